"""`POST /api/token` and `POST /api/token/refresh`. Both ignore any `Authorization` header."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from designer.definitions import AccessDefinition, InputDefinition
from runtime.callers.local import TokenPair, issue, rotate
from runtime.callers.login import log_in
from runtime.describe.documentation import Documentation
from runtime.http.rendering import json_response
from runtime.operations.base import Description
from runtime.serving.token_forms import read_form, texts
from runtime.values.inputs import Inputs

# OAuth 2 libraries always say which grant they ask for (RFC 6749, 4.3 and 6).
LOGIN = texts(
    InputDefinition(name="username", required=True, max_length=150),
    InputDefinition(name="password", required=True, max_length=1000),
    InputDefinition(name="grant_type", nullable=False, allowed=("password",)),
    # There are none to choose from, but libraries send what they were not given.
    InputDefinition(name="scope", max_length=1000),
)
REFRESH = texts(
    InputDefinition(name="refresh", required=True, max_length=8192),
    InputDefinition(name="grant_type", nullable=False, allowed=("refresh_token",)),
)


class TokenView(APIView):
    """A user name and a password for a pair of tokens."""

    def document(self) -> Documentation:
        return _document(
            "token", "Get tokens", "A user name and a password for an access and a refresh token."
        )

    def describe(self) -> Description:
        return _describe(LOGIN, 401, "invalid_credentials")

    def post(self, request: Request) -> HttpResponse:
        form = read_form(request._request, LOGIN)
        return _answer(issue(log_in(request, form["username"], form["password"])))


class RefreshView(APIView):
    """A refresh token, which is used up, for a new pair."""

    def document(self) -> Documentation:
        return _document(
            "token_refresh", "Renew tokens", "A refresh token, which is used up, for a new pair."
        )

    def describe(self) -> Description:
        return _describe(REFRESH, 401, "invalid_token")

    def post(self, request: Request) -> HttpResponse:
        return _answer(rotate(read_form(request._request, REFRESH)["refresh"]))


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


def _document(id: str, summary: str, description: str) -> Documentation:
    return Documentation(id, summary, description, "Tokens", AccessDefinition(authentication_required=False))


def _describe(form: Inputs, status: int, code: str) -> Description:
    answer = {
        "type": "object",
        "properties": {
            "access": {"type": "string"},
            "refresh": {"type": "string"},
            "access_token": {"type": "string", "description": "The same as `access`, by OAuth's name."},
            "token_type": {"type": "string", "const": "Bearer"},
            "expires_in": {"type": "integer", "description": "Seconds."},
        },
        "required": ["access", "refresh", "access_token", "token_type", "expires_in"],
    }
    return Description(
        success=(200, answer, "A pair of tokens."),
        # OAuth 2's form is taken, too. Generators make a mess of two media types that mean the same.
        body=form.schema(),
        problems={
            400: ("malformed_body", "invalid_input", "invalid_parameter"),
            415: ("unsupported_media_type",),
            429: ("locked_out", "slowed_down"),
            status: (code,),
        },
    )
