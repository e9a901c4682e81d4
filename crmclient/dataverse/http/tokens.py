"""Keeps an access token, and renews it from its source before it expires."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Final, Protocol

from crmclient.errors import DeadlineExceeded, PlatformFailure
from crmclient.sentences import Sentence

EARLY: Final = 300.0
"""Seconds before its end at which a token is renewed, unless it lives so short that half of it is less."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and its `lifetime` in seconds."""

    text: str
    lifetime: float


class TokenSource(Protocol):
    """Where tokens come from."""

    def fetch(self, timeout: float) -> Token:
        """Fetch a new token within `timeout` seconds. Raises Throttled, Unavailable, UnexpectedAnswer."""
        ...


class Tokens:
    """Keeps the token in use. Safe to share between threads: one renews it while the others use the
    old one.
    """

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._text = ""
        self._renew_at = self._ends_at = 0.0

    def get(self, ends: float) -> str:
        """Return a valid token, and wait for it until `ends` at the latest.

        Raises DeadlineExceeded, and what the source raises when the last token has expired.
        """
        now = time.monotonic()
        if now < self._renew_at:
            return self._text
        # A token that is due for renewal can be used to its end: nobody waits for whoever renews it.
        usable = now < self._ends_at
        if not self._lock.acquire(timeout=0 if usable else max(0.0, ends - now)):
            if usable:
                return self._text
            raise DeadlineExceeded(Sentence("There was no token in time."))
        try:
            if time.monotonic() < self._renew_at:
                return self._text
            return self._fetch(ends)
        except PlatformFailure:
            # While the old token is valid, a failed renewal does no harm: the next call tries again.
            if time.monotonic() < self._ends_at:
                return self._text
            raise
        finally:
            self._lock.release()

    def reject(self, text: str) -> None:
        """Forget a token that the platform did not accept. The next `get` fetches another."""
        with self._lock:
            if text == self._text:
                self._renew_at = self._ends_at = 0.0

    def _fetch(self, ends: float) -> str:
        """Fetch a new token until `ends`, keep it, and return its text. The caller holds the lock."""
        # Its lifetime is counted from before the request: the token may be older than its answer.
        now = time.monotonic()
        # Even if the wait for the lock has used up the time, the source gets a moment.
        token = self._source.fetch(max(0.1, ends - now))
        self._text = token.text
        self._ends_at = now + token.lifetime
        self._renew_at = self._ends_at - min(EARLY, token.lifetime / 2)
        return token.text
