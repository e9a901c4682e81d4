"""What the libraries find that read documents, in plain sentences that can be translated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_noop
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from designer.sentences import Counted, Sentence

_TEMPLATES: Mapping[str, str] = {
    "string_type": gettext_noop("must be a text"),
    "string_pattern_mismatch": gettext_noop("must match the pattern '%(pattern)s'"),
    "int_type": gettext_noop("must be a whole number"),
    "int_parsing": gettext_noop(
        "must be a whole number, and this text is not one",
    ),
    "int_parsing_size": gettext_noop(
        "must be a whole number, and this text is too long for one",
    ),
    "int_from_float": gettext_noop(
        "must be a whole number, without decimal places",
    ),
    "bool_type": gettext_noop("must be true or false"),
    "bool_parsing": gettext_noop("must be true or false, and this value is neither"),
    "decimal_type": gettext_noop("must be a number, or a text of digits"),
    "decimal_parsing": gettext_noop("must be a decimal number"),
    "finite_number": gettext_noop("must be a finite number"),
    "tuple_type": gettext_noop("must be a list"),
    "dict_type": gettext_noop("must be an object"),
    "model_type": gettext_noop("must be an object"),
    "literal_error": gettext_noop("must be %(expected)s"),
    "greater_than_equal": gettext_noop("must be at least %(ge)s"),
    "less_than_equal": gettext_noop("must be at most %(le)s"),
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
        return Sentence("This is not valid JSON: %(reason)s.", reason=_syntax_error(reason))
    return Sentence(
        "This is not valid JSON: %(reason)s at line %(line)s column %(column)s.",
        reason=_syntax_error(match[1]),
        line=int(match[2]),
        column=int(match[3]),
    )


def _syntax_error(reason: str) -> str:
    """Return the reason as a sentence that can be translated; an unknown reason as it is, in English."""
    if match := _KEY.fullmatch(reason):
        return Sentence("Detected duplicate key %(key)s", key=match[1])
    return Sentence(reason) if reason in _SYNTAX else reason


def problems_of(error: ValidationError) -> Sequence[ErrorDetails]:
    """Return what is wrong, each fault once.

    The library leaves wrong items out of a list, and then finds the list too short.
    """
    problems = error.errors(include_url=False)
    places = [problem["loc"] for problem in problems]
    return [
        problem
        for problem in problems
        if problem["type"] != "too_short"
        or not any(len(place) > len(problem["loc"]) and _is_in(place, problem["loc"]) for place in places)
    ]


def _is_in(place: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    """Whether a place is inside of another one. Both are paths of names and positions."""
    return place[: len(outer)] == outer


def reason_of(problem: ErrorDetails) -> str:
    """Return why a value was refused, in the sentence of its definition or in plain words."""
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


def _too_short(context: Mapping[str, Any]) -> Sentence:
    """Return the sentence about a list with too few items. `context` has the two numbers."""
    return Counted(
        "must have at least %(number)s item, and has %(actual)s",
        "must have at least %(number)s items, and has %(actual)s",
        context["min_length"],
        actual=context["actual_length"],
    )


def _translatable_value(name: str, value: Any) -> Any:
    """Return a value of a message.

    In a list of expected values, such as `'a', 'b' or 'c'`, the last “or” becomes a translatable sentence.
    """
    if name != "expected" or " or " not in value:
        return value
    others, _word, last = value.rpartition(" or ")
    return Sentence("%(others)s or %(last)s", others=others, last=last)
