"""Reads requests to the token endpoint: a few texts, as JSON or, from OAuth 2 libraries, as a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpRequest, QueryDict

from designer.definitions import InputDefinition
from designer.types import Limits
from runtime.http.bodies import announced_length, is_json, is_missing, malformed, read_body, read_object
from runtime.http.problems import FieldError, Problem
from runtime.http.query_string import read_parameters
from runtime.values.inputs import Inputs, invalid_input

FORM = "application/x-www-form-urlencoded"

# The longest body that is read only to find out in which words its sender wants to be refused.
_LONGEST_LOOKED_AT = 16 * 1024


def token_inputs(*definitions: InputDefinition) -> Inputs:
    """Return the inputs of a route for tokens. They belong to no attribute of the platform."""
    return Inputs(definitions, {defined.name: Limits.of(defined) for defined in definitions})


def read_request(request: HttpRequest) -> Mapping[str, Any]:
    """Return the members of the body, a JSON object or a form; empty without a body.

    Raises Problem 400 naming all mistakes, 413, 415.
    """
    read_parameters(request, ())
    if is_form(request):
        return _form_fields(read_body(request))
    if not request.META.get("CONTENT_TYPE") and is_missing(request.META):
        return {}
    if not is_json(request.META):
        raise Problem(415, "unsupported_media_type", f"Send the body as {FORM} or application/json.")
    return read_object(request)


def is_form(request: HttpRequest) -> bool:
    """Whether the body is announced as a URL-encoded form."""
    media: str = request.META.get("CONTENT_TYPE", "")
    return media.partition(";")[0].strip().lower() == FORM


def names_a_grant(request: HttpRequest) -> bool:
    """Whether the body has a `grant_type`, however wrong the rest is: its sender speaks OAuth 2."""
    if not hasattr(request, "_body"):
        # The body has not been read. A sender with `Expect` has not sent it yet, and without a length nobody
        # knows how much there is to read.
        if "HTTP_EXPECT" in request.META or request.META.get("CONTENT_LENGTH", "") == "":
            return False
        if announced_length(request) > _LONGEST_LOOKED_AT:
            return False
    try:
        if is_form(request):
            return "grant_type" in QueryDict(request.body)
        body = orjson.loads(request.body)
    except (OSError, ValueError):
        return False
    return isinstance(body, dict) and "grant_type" in body


def _form_fields(body: bytes) -> Mapping[str, str]:
    """Return the fields of a URL-encoded form. Raises Problem 400 for repeated fields and NUL characters."""
    try:
        form = QueryDict(body.decode("ascii"))
    except UnicodeDecodeError as error:
        raise malformed("The form is not URL-encoded.") from error
    errors = [
        FieldError("repeated_key", "Must be given once.", pointer=f"/{name}")
        for name, values in form.lists()
        if len(values) > 1
    ]
    errors += [
        FieldError("invalid_character", "Must not hold NUL characters.", pointer=f"/{name}")
        for name, value in form.items()
        if "\0" in str(value)
    ]
    if errors:
        raise invalid_input(errors)
    return {name: str(value) for name, value in form.items()}
