"""Tokens by OAuth 2 client credentials from any token endpoint, such as that of `manage.py crmserver`."""

from __future__ import annotations

import time
from urllib.parse import urlencode

from crmclient import exact_json
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.tokens import Token
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import MEGABYTE, Options
from crmclient.errors import Unavailable, UnexpectedAnswer

RETRY_AFTER = 5.0
_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class ClientCredentials:
    def __init__(self, url: str, client_id: str, client_secret: str, scope: str) -> None:
        self._url = url
        self._form = urlencode(
            {
                "grant_type": "client_credentials",
                "client_id": client_id,
                "client_secret": client_secret,
                "scope": scope,
            }
        ).encode()
        self._transport = Transport(Options(url, largest_answer=MEGABYTE))

    def fetch(self, timeout: float) -> Token:
        request = Request("POST", self._url, _HEADERS, self._form)
        try:
            answer = self._transport.send(request, time.monotonic() + timeout)
        except AttemptFailed as failure:
            raise Unavailable(
                f"The token endpoint does not answer: {failure}", retry_after=RETRY_AFTER
            ) from failure
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable(f"The token endpoint answers {answer.status}.", retry_after=RETRY_AFTER)
        try:
            return token_of(exact_json.parse(answer.body))
        except (ValueError, KeyError, TypeError):
            raise UnexpectedAnswer(f"The token endpoint gave no token (status {answer.status}).") from None


def token_of(answer: dict[str, object]) -> Token:
    """Raises KeyError, TypeError, ValueError for an answer without a token."""
    text = answer["access_token"]
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        raise TypeError("access_token")
    return Token(text, float(str(answer["expires_in"])))
