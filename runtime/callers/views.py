"""`POST /api/token` and `POST /api/token/refresh`. Both ignore any `Authorization` header."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from runtime.callers.forms import TextField, read_form
from runtime.callers.local import TokenPair, issue, rotate
from runtime.callers.login import log_in
from runtime.rendering import json_response

# OAuth 2 libraries always say which grant they ask for (RFC 6749, 4.3 and 6).
_PASSWORD = TextField("grant_type", required=False, allowed=("password",))
_REFRESH = TextField("grant_type", required=False, allowed=("refresh_token",))


class TokenView(APIView):
    """A user name and a password for a pair of tokens."""

    fields: ClassVar = (TextField("username", longest=150), TextField("password", longest=1000), _PASSWORD)

    def post(self, request: Request) -> HttpResponse:
        form = read_form(request, self.fields)
        return _answer(issue(log_in(request, form["username"], form["password"])))


class RefreshView(APIView):
    """A refresh token, which is used up, for a new pair."""

    fields: ClassVar = (TextField("refresh", longest=8192), _REFRESH)

    def post(self, request: Request) -> HttpResponse:
        return _answer(rotate(read_form(request, self.fields)["refresh"]))


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
