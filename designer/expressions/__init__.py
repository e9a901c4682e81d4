"""Expressions (CEL) that consultants write, wherever a plain value or column is not enough."""

from designer.expressions.errors import ExpressionError
from designer.expressions.expression import Expression

__all__ = ["Expression", "ExpressionError"]
