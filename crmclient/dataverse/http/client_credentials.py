"""Tokens by OAuth 2 client credentials from any token endpoint, such as that of `manage.py crmserver`."""

from __future__ import annotations

import time
from urllib.parse import urlencode

from crmclient import exact_json
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.observer import Silent
from crmclient.dataverse.http.retries import THROTTLED, retry_after
from crmclient.dataverse.http.throttle import SharedThrottle, ThisProcess, Throttle
from crmclient.dataverse.http.token_refusals import TokenThrottled, TokenUnavailable, refusal_of
from crmclient.dataverse.http.tokens import Token
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import MEGABYTE, Options
from crmclient.sentences import Sentence

RETRY_AFTER = 5.0
"""Seconds after which callers may try again, where the endpoint does not say it."""
_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class ClientCredentials:
    """Fetches tokens from the token endpoint `url`.

    `throttle` shares the pauses that this endpoint asks for with other processes; None: each process knows
    its own. Such a pause stops only the fetching of tokens; the platform's pauses are kept elsewhere.
    """

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        scope: str,
        throttle: SharedThrottle | None = None,
    ) -> None:
        self._url = url
        self._throttle = Throttle(throttle or ThisProcess(), Silent())
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
        """Fetch a token within `timeout` seconds. Raises Throttled while the endpoint asks for a pause."""
        request = Request("POST", self._url, _HEADERS, self._form)
        ends = time.monotonic() + timeout
        self._throttle.wait(ends)
        try:
            answer = self._transport.send(request, ends)
        except AttemptFailed as failure:
            raise TokenUnavailable(
                Sentence("The token endpoint does not answer: %(reason)s", reason=str(failure)),
                retry_after=RETRY_AFTER,
            ) from failure
        if answer.status == THROTTLED:
            asked_seconds = retry_after(answer.headers)
            seconds_left = RETRY_AFTER if asked_seconds is None else self._throttle.pause(asked_seconds)
            raise TokenThrottled(Sentence("The token endpoint asks for a pause."), retry_after=seconds_left)
        if answer.status >= 500:
            raise TokenUnavailable(
                Sentence("The token endpoint answers %(status)s.", status=answer.status),
                retry_after=RETRY_AFTER,
            )
        try:
            content = exact_json.parse(answer.body)
        except ValueError:
            # Not JSON: an answer without a token, like `{}`, which `refusal_of` explains by its status.
            content = {}
        try:
            return token_of(content)
        except (ValueError, KeyError, TypeError):
            raise refusal_of(Sentence("The token endpoint"), content, answer.status) from None


def token_of(answer: dict[str, object]) -> Token:
    """Return the token in an answer. Raises KeyError, TypeError, ValueError when there is none."""
    text = answer["access_token"]
    # The token is sent in a header, which takes nothing else.
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        raise TypeError("access_token")
    # Some endpoints send the seconds as a text.
    return Token(text, float(str(answer["expires_in"])))
