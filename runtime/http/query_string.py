"""The query string: matched without regard to case, and strict about what it does not know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_noop

from crmclient.metadata import ENGLISH
from designer.types import InvalidInput
from runtime.http.problems import FieldError, Problem

NOTHING: Mapping[str, str] = {}

# `lcid`, for the document.
LCID: dict[str, Any] = {
    "name": "lcid",
    "in": "query",
    "description": gettext_noop(
        "The language of texts and labels, an LCID. What is missing in it is in English."
    ),
    "schema": {"type": "integer", "default": ENGLISH, "minimum": 0, "maximum": 999_999_999},
}


def read_parameters(request: HttpRequest, names: Collection[str]) -> Mapping[str, str]:
    """Return the query string's parameters by their `names` in lower case, without those that are empty.

    Raises Problem 400 that names every unknown and every repeated parameter, and 414 for too long a query
    string.
    """
    values, errors = parse_parameters(request, names)
    if errors:
        raise invalid_parameters(errors)
    return values


def parse_parameters(
    request: HttpRequest, names: Collection[str]
) -> tuple[Mapping[str, str], list[FieldError]]:
    """Return the parameters as `read_parameters` does, and the errors of unknown and repeated ones. For
    callers that add errors of their own.

    Raises Problem 400 for a query string that cannot be read, and 414 for one that is too long.
    """
    text = request.META.get("QUERY_STRING", "")
    if not text:
        return NOTHING, []
    if len(text) > settings.PORTICO["QUERY_STRING_LIMIT"]:
        raise Problem(414, "query_string_too_long", "The query string is too long.")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError as error:
        raise Problem(400, "malformed_query_string", "The query string is not UTF-8, or too long.") from error
    values: dict[str, str] = {}
    errors: list[FieldError] = []
    for name, value in pairs:
        key = name.lower()
        if key not in names:
            errors.append(FieldError("unknown_parameter", "There is no such parameter.", parameter=name))
        elif key in values:
            errors.append(FieldError("repeated_parameter", "Must be given once.", parameter=name))
        elif "\0" in value:
            errors.append(FieldError("invalid_character", "Must not hold NUL characters.", parameter=name))
        else:
            values[key] = value
    return {key: value for key, value in values.items() if value}, errors


def read_lcid(parameters: Mapping[str, str], default: int) -> int:
    """Return the language that `lcid` asks for; `default` without it. Raises Problem 400 unless it is a
    whole number.
    """
    try:
        return lcid_of(parameters["lcid"]) if "lcid" in parameters else default
    except InvalidInput as error:
        raise invalid_parameters([FieldError(error.code, error.message, parameter="lcid")]) from error


def lcid_of(text: str) -> int:
    """Return the language (LCID) that a text names. Raises InvalidInput."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise InvalidInput("wrong_type", "Must be a language's LCID, a whole number: 1033.")
    return int(text)


def invalid_parameters(errors: Collection[FieldError]) -> Problem:
    """Return the Problem 400 with these mistakes in the query string."""
    return Problem(400, "invalid_parameter", "The query string is not valid.", errors=errors)
