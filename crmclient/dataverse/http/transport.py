"""One attempt over the wire: connections kept alive for each thread, everything bounded.

A session of `requests` would follow redirects half-way even when told not to, keep cookies, and read proxies
and trusted certificates from the environment for every request: here its adapter does the work alone.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Final, TypeVar, cast

import requests
import urllib3
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as LibraryTimeoutError

from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.http.pooled_connections import PoolingAdapter
from crmclient.dataverse.options import Options
from crmclient.errors import UnexpectedAnswer, UnknownHost, Unreachable, UntrustedCertificate
from crmclient.sentences import Sentence

PIECE: Final = 64 * 1024
_CONNECTIONS: Final = 4
_WITH_BODY: Final = frozenset({"POST", "PATCH", "PUT"})

Cause = TypeVar("Cause", bound=BaseException)


class AttemptFailed(Exception):
    """An attempt without an answer. With `sent`, the platform may have carried the request out all
    the same.
    """

    outcome = "lost"
    sent = True
    means: type[Unreachable] = Unreachable
    """What it means for whoever called."""


class NotReached(AttemptFailed):
    """No connection was made, so that nothing has happened."""

    outcome = "unreachable"
    sent = False


class NameUnknown(NotReached):
    """The name of the host has no address."""

    means = UnknownHost


class NotTrusted(NotReached):
    """The other end showed a certificate that is not trusted here. `problem` is what OpenSSL says of it."""

    means = UntrustedCertificate

    def __init__(self, problem: str) -> None:
        super().__init__(
            Sentence(
                "The certificate is not trusted (%(problem)s), so that no connection was made.",
                problem=problem,
            )
        )
        self.problem = problem


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
            raise TimedOut(Sentence("There is no time left."))
        # Built by hand, as the adapter is used without a session.
        message = requests.PreparedRequest()
        message.method, message.url = request.method, request.url
        message.prepare_headers(request.headers)
        message.prepare_hooks({})
        message.body = cast("bytes | None", request.body)
        # A body that is iterated has its length among the request's headers. A missing one is of length 0.
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
            raise attempt_failure(error) from error

    def _adapter(self) -> PoolingAdapter:
        """Return the adapter of this thread, which keeps the thread's own connections."""
        adapter: PoolingAdapter | None = getattr(self._threads, "adapter", None)
        if adapter is None:
            adapter = self._threads.adapter = PoolingAdapter(pool_connections=1, pool_maxsize=_CONNECTIONS)
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
                raise UnexpectedAnswer(
                    Sentence("The platform's answer is larger than %(limit)s bytes.", limit=limit)
                )
            if time.monotonic() > ends:
                raise TimedOut(Sentence("The answer did not end in time."))
            pieces.append(piece)
    except (HTTPError, OSError) as error:
        raise read_failure(error) from error
    return b"".join(pieces)


def read_failure(error: Exception) -> AttemptFailed:
    """Return the error for a body that could not be read to its end."""
    if isinstance(error, LibraryTimeoutError):
        return TimedOut(Sentence("The answer did not go on in time."))
    return AttemptFailed(Sentence("The answer broke off."))


def answer_of(response: requests.Response, body: bytes) -> Answer:
    return Answer(response.status_code, lower_case(response.headers), body)


def lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def attempt_failure(error: requests.RequestException) -> AttemptFailed:
    """Return what the error of the HTTP library means: not reached, timed out, or broken off."""
    untrusted = cause_of(error, ssl.SSLCertVerificationError)
    if untrusted is not None:
        return NotTrusted(untrusted.verify_message)
    if isinstance(error, requests.exceptions.ProxyError):
        return NotReached(Sentence("The proxy made no connection."))
    if cause_of(error, socket.gaierror) is not None:
        return NameUnknown(
            Sentence("There is no address for the name of the host, so that no connection was made.")
        )
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return NotReached(Sentence("No connection was made in time."))
    if isinstance(error, requests.exceptions.Timeout):
        return TimedOut(Sentence("There was no answer in time."))
    # `requests` wraps an error of urllib3, which has in `reason` why the connection failed.
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", None)
    if isinstance(error, requests.exceptions.SSLError):
        return NotReached(Sentence("TLS is broken on the way, so that no connection was made."))
    if isinstance(reason, NewConnectionError):
        if cause_of(error, ConnectionRefusedError) is not None:
            return NotReached(Sentence("The host refuses the connection."))
        return NotReached(Sentence("The host cannot be reached."))
    return AttemptFailed(Sentence("The connection broke off."))


def cause_of(error: BaseException, kind: type[Cause]) -> Cause | None:
    """Return the first of an error, its causes, and what it wraps that is of a kind; None without one.

    Libraries put the cause of an error in different places.
    """
    waiting: list[BaseException] = [error]
    seen_ids: set[int] = set()
    while waiting:
        current_error = waiting.pop()
        if isinstance(current_error, kind):
            return current_error
        if id(current_error) in seen_ids:
            continue
        seen_ids.add(id(current_error))
        parts = (
            current_error.__cause__,
            current_error.__context__,
            getattr(current_error, "reason", None),
            *current_error.args,
        )
        waiting += [part for part in parts if isinstance(part, BaseException)]
    return None
