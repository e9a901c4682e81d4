"""`POST /api/token` and `POST /api/token/refresh`. Both ignore any `Authorization` header.

They take a few texts, as JSON or, as OAuth 2 libraries send them, as a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from rest_framework.request import Request
from rest_framework.views import APIView

from designer.definitions import InputDefinition
from designer.types import Limits
from runtime.callers.local import TokenPair, issue, rotate
from runtime.callers.login import log_in
from runtime.http.bodies import malformed, read_body, read_object
from runtime.http.problems import FieldError
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.values.inputs import Inputs, invalid_input

FORM = "application/x-www-form-urlencoded"


def _texts(*definitions: InputDefinition) -> Inputs:
    """Inputs that no attribute stands behind."""
    return Inputs(definitions, {defined.name: Limits.of(defined) for defined in definitions})


# OAuth 2 libraries always say which grant they ask for (RFC 6749, 4.3 and 6).
LOGIN = _texts(
    InputDefinition(name="username", required=True, max_length=150),
    InputDefinition(name="password", required=True, max_length=1000),
    InputDefinition(name="grant_type", nullable=False, allowed=("password",)),
    # There are none to choose from, but libraries send what they were not given.
    InputDefinition(name="scope", max_length=1000),
)
REFRESH = _texts(
    InputDefinition(name="refresh", required=True, max_length=8192),
    InputDefinition(name="grant_type", nullable=False, allowed=("refresh_token",)),
)


class TokenView(APIView):
    """A user name and a password for a pair of tokens."""

    def post(self, request: Request) -> HttpResponse:
        form = _read_form(request._request, LOGIN)
        return _answer(issue(log_in(request, form["username"], form["password"])))


class RefreshView(APIView):
    """A refresh token, which is used up, for a new pair."""

    def post(self, request: Request) -> HttpResponse:
        return _answer(rotate(_read_form(request._request, REFRESH)["refresh"]))


def _answer(pair: TokenPair) -> HttpResponse:
    return json_response(
        {
            "access": pair.access,
            "refresh": pair.refresh,
            "access_token": pair.access,
            "token_type": "Bearer",
            "expires_in": pair.expires_in,
        },
        headers={"Cache-Control": "no-store"},
    )


def _read_form(request: HttpRequest, inputs: Inputs) -> Mapping[str, Any]:
    """The values of `inputs`. Raises Problem 400 naming all that is wrong, 413, 415."""
    read_parameters(request, ())
    is_form = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() == FORM
    return inputs.read(_fields(read_body(request)) if is_form else read_object(request))


def _fields(body: bytes) -> Mapping[str, str]:
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
