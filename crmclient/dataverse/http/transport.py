"""One attempt over the wire: connections kept alive for each thread, everything bounded.

A session of `requests` would follow redirects half-way even when told not to, keep cookies, and read proxies
and trusted certificates from the environment for every request: here its adapter does the work alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Final, cast

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as LibraryTimeoutError

from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.options import Options
from crmclient.errors import UnexpectedAnswer

PIECE: Final = 64 * 1024
_CONNECTIONS: Final = 4
_WITH_BODY: Final = frozenset({"POST", "PATCH", "PUT"})


class AttemptFailed(Exception):
    """An attempt without an answer. With `sent`, the platform may have carried the request out all
    the same.
    """

    outcome = "lost"
    sent = True


class NotReached(AttemptFailed):
    """No connection was made, so that nothing has happened."""

    outcome = "unreachable"
    sent = False


class TimedOut(AttemptFailed):
    outcome = "timeout"


class Transport:
    """Sends single HTTP requests. Safe to share between threads."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._proxies = get_environ_proxies(options.url)
        self._verify: bool | str = os.environ.get("REQUESTS_CA_BUNDLE") or True
        self._threads = threading.local()

    def send(self, request: Request, ends: float) -> Answer:
        """Send a request, and return the whole answer. `ends` is a second of `time.monotonic()`.

        Raises AttemptFailed, and UnexpectedAnswer for an answer that is too large.
        """
        response = self.open(request, ends)
        try:
            body = read_bounded(response, self._options.largest_answer, ends)
        finally:
            response.close()
        return answer_of(response, body)

    def open(self, request: Request, ends: float) -> requests.Response:
        """Send a request, and return the open response. The caller reads the body and closes it.

        `ends` is a second of `time.monotonic()`. Raises AttemptFailed.
        """
        seconds_left = ends - time.monotonic()
        if seconds_left <= 0:
            raise TimedOut("There is no time left.")
        message = requests.PreparedRequest()
        message.method, message.url = request.method, request.url
        message.prepare_headers(request.headers)
        message.prepare_hooks({})
        message.body = cast("bytes | None", request.body)
        if isinstance(request.body, bytes) or (request.body is None and request.method in _WITH_BODY):
            message.headers["Content-Length"] = str(len(request.body or b""))
        try:
            return self._adapter().send(
                message,
                timeout=(min(self._options.connect_timeout, seconds_left), seconds_left),
                stream=True,
                verify=self._verify,
                proxies=self._proxies,
            )
        except requests.RequestException as error:
            raise _failed(error) from error

    def _adapter(self) -> HTTPAdapter:
        adapter: HTTPAdapter | None = getattr(self._threads, "adapter", None)
        if adapter is None:
            adapter = self._threads.adapter = HTTPAdapter(pool_connections=1, pool_maxsize=_CONNECTIONS)
        return adapter


def read_bounded(response: requests.Response, limit: int, ends: float) -> bytes:
    """Return the body. It is read in the pieces in which it arrives, so that a slow one is noticed.

    `ends` is a second of `time.monotonic()`. Raises UnexpectedAnswer for more than `limit` bytes, TimedOut
    when the body does not end before `ends`, and AttemptFailed.
    """
    raw = cast("urllib3.HTTPResponse", response.raw)
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := raw.read1(PIECE, decode_content=True):
            size += len(piece)
            if size > limit:
                raise UnexpectedAnswer(f"The platform's answer is larger than {limit} bytes.")
            if time.monotonic() > ends:
                raise TimedOut("The answer did not end in time.")
            pieces.append(piece)
    except (HTTPError, OSError) as error:
        raise read_failure(error) from error
    return b"".join(pieces)


def read_failure(error: Exception) -> AttemptFailed:
    """Return the error for a body that could not be read to its end."""
    if isinstance(error, LibraryTimeoutError):
        return TimedOut("The answer did not go on in time.")
    return AttemptFailed(f"The answer broke off ({type(error).__name__}).")


def answer_of(response: requests.Response, body: bytes) -> Answer:
    return Answer(response.status_code, lower_case(response.headers), body)


def lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _failed(error: requests.RequestException) -> AttemptFailed:
    """Return what the error of the HTTP library means: not reached, timed out, or broken off."""
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return NotReached("No connection was made in time.")
    if isinstance(error, requests.exceptions.Timeout):
        return TimedOut("There was no answer in time.")
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", None)
    if isinstance(reason, NewConnectionError) or isinstance(error, requests.exceptions.SSLError):
        return NotReached(f"No connection was made ({type(reason or error).__name__}).")
    if isinstance(error, requests.exceptions.ProxyError):
        return NotReached("The proxy made no connection.")
    return AttemptFailed(f"The connection broke off ({type(error).__name__}).")
