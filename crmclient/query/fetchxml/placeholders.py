"""Values in texts. `@name` is a parameter and `@user.name` a property of the caller; all else is a literal.

A text that begins with `@=` is a literal whatever follows: `@=@home` is the text `@home`. Placeholders of
other tools (`{0}`, `{{ … }}`, `${…}`) are refused, since as literals they would silently match nothing.
"""

from __future__ import annotations

import re
from typing import Final

from crmclient.query.ast import Operator
from crmclient.query.designed import DesignedOperator, DesignedValue, Literal, Parameter, UserValue

_LITERAL: Final = "@="
_NAME: Final = "[A-Za-z_][A-Za-z0-9_]*"
_PARAMETER: Final = re.compile(f"@({_NAME})").fullmatch
_USER_VALUE: Final = re.compile(rf"@user\.({_NAME})").fullmatch
_DOTTED: Final = re.compile(rf"@{_NAME}(\.{_NAME})+").fullmatch
_IN_PATTERN: Final = re.compile(f"%*@{_NAME}%*").fullmatch
_FOREIGN: Final = re.compile(r"\{[0-9]+\}|\{\{.*?\}\}|\{%.*?%\}|[$@#]\{.*?\}", re.DOTALL).search


def read_value(text: str, operator: DesignedOperator) -> DesignedValue:
    """Raises ValueError for what is neither a literal nor a placeholder of ours."""
    if text.startswith(_LITERAL):
        return Literal(text.removeprefix(_LITERAL))
    if match := _PARAMETER(text):
        return Parameter(match[1])
    if match := _USER_VALUE(text):
        return UserValue(match[1])
    if _DOTTED(text):
        raise ValueError(f"{text!r} is no placeholder; write @name, @user.name, or @={text} for the text")
    if match := _FOREIGN(text):
        raise ValueError(
            f"{match[0]!r} is a placeholder of another tool; write @name for a parameter, or @={text} for "
            "the text"
        )
    if operator in (Operator.LIKE, Operator.NOT_LIKE) and _IN_PATTERN(text):
        raise ValueError(
            f"{text!r}: a parameter cannot be part of a pattern; write begins-with, ends-with or contains "
            f"with the parameter alone, or @={text} for the text"
        )
    return Literal(text)


def write_value(value: DesignedValue, operator: DesignedOperator) -> str:
    match value:
        case Parameter(name):
            return f"@{name}"
        case UserValue(name):
            return f"@user.{name}"
        case Literal(text):
            return text if _is_literal(text, operator) else _LITERAL + text


def _is_literal(text: str, operator: DesignedOperator) -> bool:
    try:
        return read_value(text, operator) == Literal(text)
    except ValueError:
        return False
