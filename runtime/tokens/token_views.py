"""`POST /api/token`, `/api/token/refresh` and `/api/token/revoke`. They ignore any `Authorization` header
that proves no client.
"""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from designer.definitions import InputDefinition
from runtime.callers.own_tokens import TokenPair, is_access_token, revoke
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.tokens.grants import LOGIN_INPUTS, REFRESH_INPUTS, grant_tokens, log_in_with, read_known, renew
from runtime.tokens.token_requests import read_request, token_inputs

REVOCATION_INPUTS = token_inputs(
    InputDefinition(name="token", required=True, max_length=8192),
    # It is not needed: the token itself tells its kind.
    InputDefinition(name="token_type_hint", max_length=100),
    InputDefinition(name="client_id", max_length=1000),
    InputDefinition(name="client_secret", max_length=1000),
)


class TokenView(APIView):
    """Exchanges a user name and a password for a pair of tokens. With a `grant_type`, it answers as OAuth 2
    has it.
    """

    def post(self, request: Request) -> HttpResponse:
        """Answer with tokens. Raises Problem."""
        sent = read_request(request._request)
        if "grant_type" in sent:
            return _token_response(grant_tokens(request, sent))
        return _token_response(log_in_with(request, LOGIN_INPUTS.read(sent)))


class RefreshView(APIView):
    """Exchanges a refresh token for its successor and a new access token.

    The body is `{"refresh": …}`. With a `grant_type`, it is a request of OAuth 2, which calls the token
    `refresh_token`; there, `refresh` is taken as well.
    """

    def post(self, request: Request) -> HttpResponse:
        """Answer with the pair of tokens that follows. Raises Problem."""
        sent = dict(read_request(request._request))
        if "grant_type" not in sent:
            return _token_response(renew(request, REFRESH_INPUTS.read(sent)["refresh"]))
        refresh_token = sent.pop("refresh", None)
        if refresh_token is not None:
            # A token under OAuth's name has precedence.
            sent.setdefault("refresh_token", refresh_token)
        return _token_response(grant_tokens(request, sent, allowed=frozenset({"refresh_token"})))


class RevokeView(APIView):
    """Ends a login by one of its refresh tokens (RFC 7009). An unknown token counts as ended."""

    def post(self, request: Request) -> HttpResponse:
        """End the login, and answer 200. Raises Problem 400 for an access token."""
        plain = request._request
        token = read_known(plain, REVOCATION_INPUTS, read_request(plain))["token"]
        if is_access_token(token):
            raise Problem(
                400,
                "unsupported_token_type",
                "An access token ends with its login. Revoke the refresh token.",
            )
        revoke(token)
        return HttpResponse()


def _token_response(pair: TokenPair) -> HttpResponse:
    """Return the tokens under this service's names and under those of OAuth 2."""
    members = {
        "access": pair.access,
        "refresh": pair.refresh,
        "access_token": pair.access,
        "refresh_token": pair.refresh,
        "token_type": "Bearer",
        "expires_in": pair.expires_in,
    }
    return json_response({name: value for name, value in members.items() if value is not None})
