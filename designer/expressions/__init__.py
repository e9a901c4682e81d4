"""Expressions (CEL) that consultants write: option filters and custom user properties."""

from designer.expressions.expression import Expression, ExpressionError

__all__ = ["Expression", "ExpressionError"]
