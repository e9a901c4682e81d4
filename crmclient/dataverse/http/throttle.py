"""Who is told by the token endpoint to wait waits for all: after a 429 nothing is sent to it before its
`Retry-After` has passed.

Every thread of the process holds to it, and every process that shares a memory with this one.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

from crmclient.dataverse.http.bulkhead import LONGEST_WAIT
from crmclient.dataverse.http.observer import Observer
from crmclient.dataverse.http.retries import LONGEST_RETRY_AFTER
from crmclient.dataverse.http.token_refusals import TokenThrottled
from crmclient.sentences import Sentence

_WORTH_TELLING: Final = 1.0
"""Seconds by which an end must be later than the one that is known to be worth telling."""


class SharedThrottle(Protocol):
    """The pauses that several processes know of. Called from any thread; quick, and never raises.

    Times are in seconds from now, so that the clocks of several machines need not agree.
    """

    def left(self) -> float:
        """Return the seconds until the platform may be asked again; 0 when it may, or when nothing
        is known.
        """
        ...

    def pause(self, seconds: float) -> None:
        """Ask nothing for `seconds`. A longer pause that is known already stays."""
        ...


class ThisProcess:
    """A throttle that shares nothing. Each process goes by what it remembers itself."""

    def left(self) -> float:
        return 0.0

    def pause(self, seconds: float) -> None:
        pass


class Throttle:
    """Keeps to the pauses that a server asks for. Safe to share between threads."""

    def __init__(self, shared: SharedThrottle, observer: Observer) -> None:
        self._shared = shared
        self._observer = observer
        self._lock = threading.Lock()
        self._until = 0.0

    def pause(self, asked_seconds: float) -> float:
        """Ask nothing for the `asked_seconds`, an hour at most. Return the seconds of the pause that are
        left.
        """
        seconds = min(asked_seconds, LONGEST_RETRY_AFTER)
        # Many requests may be under way when the platform refuses the first: one line tells of them all.
        if self._extend(seconds) > _WORTH_TELLING:
            self._observer.throttled(seconds, asked_seconds=asked_seconds)
        self._shared.pause(seconds)
        return max(seconds, self._until - time.monotonic())

    def refuse(self) -> None:
        """Raise TokenThrottled where this process knows that waiting in a queue would be in vain."""
        seconds_left = self._until - time.monotonic()
        if seconds_left > LONGEST_WAIT:
            raise _throttled_error(seconds_left)

    def wait(self, ends: float) -> None:
        """Return when a request may be sent. Raises TokenThrottled when that is more than two seconds from
        now, or not before `ends` (a `time.monotonic()` second).
        """
        while seconds_left := self._left():
            if seconds_left > LONGEST_WAIT or time.monotonic() + seconds_left >= ends:
                raise _throttled_error(seconds_left)
            time.sleep(seconds_left)

    def _left(self) -> float:
        """Return the seconds that are left of a pause, of this process or of all."""
        seconds_left = self._until - time.monotonic()
        if seconds_left > LONGEST_WAIT:
            # This process knows enough to refuse without asking for what the others know.
            return seconds_left
        shared = self._shared.left()
        if shared > seconds_left:
            self._extend(shared)
        return max(0.0, seconds_left, shared)

    def _extend(self, seconds: float) -> float:
        """Extend the pause to `seconds` from now. Return by how many seconds that is longer than before."""
        until = time.monotonic() + seconds
        with self._lock:
            extension = until - self._until
            self._until = max(self._until, until)
        return extension


def _throttled_error(seconds_left: float) -> TokenThrottled:
    """Return the error for a request that comes `seconds_left` before the end of a pause."""
    return TokenThrottled(
        Sentence("The token endpoint has asked the service to pause, and the pause is not over."),
        retry_after=seconds_left,
    )
