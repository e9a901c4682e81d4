"""Answers in OAuth 2's words (RFC 6749, 5), beside this service's own.

Whoever names a grant is refused with `error` and `error_description` in `application/json`, with the statuses
of RFC 6749, and finds the members of our problems there, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from runtime.http.failures import error_response
from runtime.http.problems import CONTENT_TYPE, phrase
from runtime.http.rendering import JSON
from runtime.tokens.token_requests import names_a_grant

View: TypeAlias = Callable[[HttpRequest], HttpResponseBase]

# No cache may keep tokens, nor refusals (RFC 6749, 5.1).
_NOT_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}

# RFC 6749, 5.2: a grant that is not good is 400, whatever we say of it without OAuth.
_GRANT_REFUSED = frozenset({"invalid_credentials", "invalid_token"})
_OWN_WORDS = ("invalid_client", "unsupported_grant_type", "unsupported_token_type")
ERRORS = ("invalid_request", "invalid_grant", *_OWN_WORDS, "temporarily_unavailable", "server_error")
# Characters that `error_description` may not have (RFC 6749, 5.2).
_UNSAYABLE = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")


def in_words_of_oauth(view: View, *, always: bool = False) -> View:
    """Return `view` with refusals in OAuth's form if the request names a grant, or `always`."""

    def translated(request: HttpRequest) -> HttpResponseBase:
        """Answer the request. A problem is rewritten in OAuth's form if the sender speaks OAuth."""
        try:
            response = view(request)
        except Exception as error:
            response = error_response(error, request)
        is_problem = response.headers.get("Content-Type") == CONTENT_TYPE
        if is_problem and isinstance(response, HttpResponse) and (always or names_a_grant(request)):
            _translate(response)
        for name, value in _NOT_STORED.items():
            response.headers[name] = value
        return response

    return translated


def _translate(response: HttpResponse) -> None:
    """Rewrite a problem in OAuth's form. Its own members stay beside those of OAuth."""
    problem: dict[str, Any] = orjson.loads(response.content)
    status, error = _status_and_error(problem)
    # Only a 401 becomes another status: 400, which asks for no authentication.
    if status != response.status_code:
        response.status_code = status
        problem |= {"status": status, "title": phrase(status)}
        del response.headers["WWW-Authenticate"]
    description = _UNSAYABLE.sub("'", problem["detail"])
    response.content = orjson.dumps({"error": error, "error_description": description, **problem})
    response.headers["Content-Type"] = JSON


def _status_and_error(problem: Mapping[str, Any]) -> tuple[int, str]:
    """Return the status and the OAuth 2 `error` for a problem."""
    status, code = problem["status"], problem["code"]
    if code in _GRANT_REFUSED:
        return 400, "invalid_grant"
    if code in _OWN_WORDS:
        return status, code
    if status in (429, 503, 504):
        return status, "temporarily_unavailable"
    return status, "invalid_request" if status < 500 else "server_error"
