"""Messages of the libraries that read documents, as sentences that can be translated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop
from pydantic_core import ErrorDetails

from designer.sentences import Counted, Sentence

_TEMPLATES: Mapping[str, str] = {
    "string_type": gettext_noop("Input should be a valid string"),
    "string_pattern_mismatch": gettext_noop("String should match pattern '%(pattern)s'"),
    "int_type": gettext_noop("Input should be a valid integer"),
    "int_parsing": gettext_noop(
        "Input should be a valid integer, unable to parse string as an integer",
    ),
    "int_parsing_size": gettext_noop(
        "Unable to parse input string as an integer, exceeded maximum size",
    ),
    "int_from_float": gettext_noop(
        "Input should be a valid integer, got a number with a fractional part",
    ),
    "bool_type": gettext_noop("Input should be a valid boolean"),
    "bool_parsing": gettext_noop("Input should be a valid boolean, unable to interpret input"),
    "decimal_type": gettext_noop("Decimal input should be an integer, float, string or Decimal object"),
    "decimal_parsing": gettext_noop("Input should be a valid decimal"),
    "finite_number": gettext_noop("Input should be a finite number"),
    "tuple_type": gettext_noop("Input should be a valid tuple"),
    "dict_type": gettext_noop("Input should be a valid dictionary"),
    "model_type": gettext_noop("Input should be a valid dictionary or instance of %(class_name)s"),
    "literal_error": gettext_noop("Input should be %(expected)s"),
    "greater_than_equal": gettext_noop("Input should be greater than or equal to %(ge)s"),
    "less_than_equal": gettext_noop("Input should be less than or equal to %(le)s"),
}

_PLACE_IN_TEXT = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_KEY = re.compile(r"Detected duplicate key (.*)", re.DOTALL)
_SYNTAX = frozenset(
    {
        gettext_noop("EOF while parsing a value"),
        gettext_noop("EOF while parsing a list"),
        gettext_noop("EOF while parsing an object"),
        gettext_noop("EOF while parsing a string"),
        gettext_noop("expected value"),
        gettext_noop("expected ident"),
        gettext_noop("expected `:`"),
        gettext_noop("expected `,` or `]`"),
        gettext_noop("expected `,` or `}`"),
        gettext_noop("key must be a string"),
        gettext_noop("trailing comma"),
        gettext_noop("trailing characters"),
        gettext_noop("invalid escape"),
        gettext_noop("invalid number"),
        gettext_noop("invalid unicode code point"),
        gettext_noop("control character (\\u0000-\\u001F) found while parsing a string"),
        gettext_noop("recursion limit exceeded"),
    }
)


def unreadable(reason: str) -> Sentence:
    """Return why a text is not JSON, from the message of its reader."""
    match = _PLACE_IN_TEXT.fullmatch(reason)
    if match is None:
        return Sentence("This is no JSON that can be read: %(reason)s.", reason=_syntax(reason))
    return Sentence(
        "This is no JSON that can be read: %(reason)s at line %(line)s column %(column)s.",
        reason=_syntax(match[1]),
        line=int(match[2]),
        column=int(match[3]),
    )


def _syntax(reason: str) -> str:
    if match := _KEY.fullmatch(reason):
        return Sentence("Detected duplicate key %(key)s", key=match[1])
    return Sentence(reason) if reason in _SYNTAX else reason


def reason_of(problem: ErrorDetails) -> str:
    """Return why a value was refused, in the sentence of the definition or of the library."""
    context = problem.get("ctx", {})
    if problem["type"] == "missing":
        return Sentence("is missing; write it")
    if problem["type"] == "extra_forbidden":
        return Sentence("is not known; remove it, or correct its name")
    if isinstance(error := context.get("error"), ValueError):
        return str(error)
    if problem["type"] == "too_short":
        return _too_short(context)
    template = _TEMPLATES.get(problem["type"])
    if template is None:
        return problem["msg"]
    return Sentence(template, **{name: _translatable_value(name, value) for name, value in context.items()})


# What the library calls the type of a value that is too short.
_COLLECTIONS = {"List": Sentence("List")}


def _too_short(context: Mapping[str, Any]) -> Sentence:
    return Counted(
        "%(field_type)s should have at least %(number)s item after validation, not %(actual)s",
        "%(field_type)s should have at least %(number)s items after validation, not %(actual)s",
        context["min_length"],
        field_type=_COLLECTIONS.get(context["field_type"], context["field_type"]),
        actual=context["actual_length"],
    )


def _translatable_value(name: str, value: Any) -> Any:
    """Return a value of a message.

    In a list of expected values, the last “or” becomes a translatable sentence.
    """
    if name != "expected" or " or " not in value:
        return value
    others, _word, last = value.rpartition(" or ")
    return Sentence("%(others)s or %(last)s", others=others, last=last)
