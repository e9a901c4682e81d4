"""Values in texts. `@name` is a parameter, `@user.name` a property of the caller, `@user.claims.path` a claim
of the caller's token, `@fetch.fetcher.key` a column of what a data fetcher has read, `@record.attribute` one
of the record at hand; else it is a literal.

A text that begins with `@=` is a literal whatever follows: `@=@home` is the text `@home`. Placeholders of
other tools (`{0}`, `{{ … }}`, `${…}`) are refused, since as literals they would silently match nothing.
"""

from __future__ import annotations

import re
from typing import Final

from crmclient.query.ast import Operator
from crmclient.query.designed import (
    ClaimValue,
    DesignedOperator,
    DesignedValue,
    FetchValue,
    Literal,
    Parameter,
    RecordValue,
    UserValue,
)
from crmclient.sentences import Sentence

_LITERAL: Final = "@="
_NAME: Final = "[A-Za-z_][A-Za-z0-9_]*"
_PARAMETER: Final = re.compile(f"@({_NAME})").fullmatch
_USER_VALUE: Final = re.compile(rf"@user\.({_NAME})").fullmatch
_CLAIMS: Final = "@user.claims"
# Claims have any name: one with a dot, a bracket or a space stands in quotes. `[0]` is the first of a list.
_CLAIM_NAME: Final = r'(?:"(?:[^"\\]|\\.)+"|[^."\[\]\s]+)'
_CLAIM_VALUE: Final = re.compile(
    rf"{re.escape(_CLAIMS)}\.({_CLAIM_NAME}(?:\.{_CLAIM_NAME}|\[[0-9]{{1,3}}\])*)"
).fullmatch
_FETCH_VALUE: Final = re.compile(rf"@fetch\.({_NAME})\.({_NAME}(?:\.{_NAME})?)").fullmatch
_RECORD_VALUE: Final = re.compile(rf"@record\.({_NAME})").fullmatch
_DOTTED: Final = re.compile(rf"@{_NAME}(\.{_NAME})+").fullmatch
_IN_PATTERN: Final = re.compile(f"%*@{_NAME}%*").fullmatch
_FOREIGN: Final = re.compile(r"\{[0-9]+\}|\{\{.*?\}\}|\{%.*?%\}|[$@#]\{.*?\}", re.DOTALL).search


def read_value(text: str, operator: DesignedOperator) -> DesignedValue:
    """Return the placeholder or literal that a text means where `operator` compares it.

    Raises ValueError for an unknown placeholder, one of another tool, and a parameter inside a pattern.
    """
    if text.startswith(_LITERAL):
        return Literal(text.removeprefix(_LITERAL))
    if match := _PARAMETER(text):
        return Parameter(match[1])
    if match := _CLAIM_VALUE(text):
        return ClaimValue(match[1])
    if text == _CLAIMS or text.startswith(f"{_CLAIMS}."):
        raise ValueError(
            Sentence(
                "%(text)s does not name a claim; write @user.claims.name, put a name that has "
                "dots in quotes, or write %(literal)s for the text",
                text=repr(text),
                literal=_LITERAL + text,
            )
        )
    if match := _USER_VALUE(text):
        return UserValue(match[1])
    if match := _FETCH_VALUE(text):
        return FetchValue(match[1], match[2])
    if match := _RECORD_VALUE(text):
        return RecordValue(match[1])
    if _DOTTED(text):
        raise ValueError(
            Sentence(
                "%(text)s is not a placeholder; write @name, @user.name, @user.claims.name, "
                "@fetch.name.column, @record.attribute, or %(literal)s for the text",
                text=repr(text),
                literal=_LITERAL + text,
            )
        )
    if match := _FOREIGN(text):
        raise ValueError(
            Sentence(
                "%(placeholder)s is a placeholder of another tool; write @name for a parameter, or "
                "%(literal)s for the text",
                placeholder=repr(match[0]),
                literal=_LITERAL + text,
            )
        )
    if operator in (Operator.LIKE, Operator.NOT_LIKE) and _IN_PATTERN(text):
        raise ValueError(
            Sentence(
                "%(text)s: a parameter cannot be part of a pattern; write begins-with, ends-with or contains "
                "with the parameter alone, or %(literal)s for the text",
                text=repr(text),
                literal=_LITERAL + text,
            )
        )
    return Literal(text)


def write_value(value: DesignedValue, operator: DesignedOperator) -> str:
    """Return a value as FetchXML has it: a reference such as `@user.name`, or a literal.

    A text that would be read as a reference where `operator` compares it is marked as a literal: `@=@user`.
    """
    match value:
        case Parameter(name):
            return f"@{name}"
        case UserValue(name):
            return f"@user.{name}"
        case ClaimValue(path):
            return f"{_CLAIMS}.{path}"
        case FetchValue(fetcher, key):
            return f"@fetch.{fetcher}.{key}"
        case RecordValue(attribute):
            return f"@record.{attribute}"
        case Literal(text):
            return text if _is_literal(text, operator) else _LITERAL + text


def _is_literal(text: str, operator: DesignedOperator) -> bool:
    """Whether `read_value` takes the text for a literal without a mark before it."""
    try:
        return read_value(text, operator) == Literal(text)
    except ValueError:
        return False
