"""After several failures in a row the platform is left alone for a while, then probed by one call at a time.

No library is used: those that exist either run all calls one after the other under their lock, or let every
call pass while the circuit is half open.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from crmclient.dataverse.http.observer import Observer
from crmclient.errors import (
    AnswerLost,
    DeadlineExceeded,
    PlatformFailure,
    TooSlow,
    Unavailable,
    Unreachable,
)
from crmclient.sentences import Sentence

FAILURES: Final = 8
"""In a row, before the circuit opens."""
FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 10.0
"""Seconds. Each probe that fails doubles the pause, up to this: so much later than the platform callers come
back at most.
"""


class Circuit:
    """Keeps requests from a platform that fails. It is closed, open for a while, or half open while a probe
    is sent.
    """

    def __init__(self, observer: Observer, clock: Callable[[], float] = time.monotonic) -> None:
        self._observer = observer
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._pause = FIRST_PAUSE
        # When a probe may pass; None while the circuit is closed.
        self._paused_until: float | None = None
        # When the probe that has passed is given up; None while there is none.
        self._probe_ends: float | None = None
        # What is said while it is open: the last failure tells what to do.
        self._refusal: type[Unavailable] = Unavailable
        self._reason = ""

    def refuse(self) -> None:
        """Raise Unavailable while no request would pass. Unlike `enter`, this takes no probe's turn."""
        if self._paused_until is None:
            return
        with self._lock:
            self._refuse(self._clock())

    @contextmanager
    def enter(self, ends: float) -> Iterator[Passage]:
        """Let a request pass. Raises Unavailable while the circuit is open.

        After a pause, one request passes as a probe. If it is not sent after all, the next request is the
        probe; if it reports nothing, another may pass at `ends`.
        """
        passage = Passage(self, is_probe=False)
        # Read without the lock first: nearly always, the circuit is closed and no thread has to wait.
        if self._paused_until is not None:
            with self._lock:
                self._refuse(self._clock())
                if self._paused_until is not None:
                    self._probe_ends = ends
                    passage.is_probe = True
        try:
            yield passage
        finally:
            if passage.is_probe and not passage.has_reported:
                with self._lock:
                    # Another probe may have taken the turn of one that was given up.
                    if self._probe_ends == ends:
                        self._probe_ends = None

    def _refuse(self, now: float) -> None:
        """Raise Unavailable during a pause, and while a probe is under way."""
        if self._paused_until is None:
            return
        waits_until = self._paused_until if self._probe_ends is None else self._probe_ends
        if now < waits_until:
            raise self._refusal(
                Sentence(
                    "The platform has failed repeatedly and is left alone for a while. The last time: "
                    "%(reason)s",
                    reason=self._reason,
                ),
                retry_after=max(1.0, min(waits_until - now, LONGEST_PAUSE)),
            )

    def succeeded(self) -> None:
        """Close the circuit, and begin to count failures anew."""
        # Read without the lock: nearly always, there is nothing to reset.
        if not self._failures:
            return
        with self._lock:
            was_open = self._paused_until is not None
            self._failures, self._pause = 0, FIRST_PAUSE
            self._paused_until = self._probe_ends = None
        if was_open:
            self._observer.circuit(open=False)

    def failed(self, error: PlatformFailure, *, is_probe: bool) -> None:
        """Count a failure. Open the circuit after several in a row, and again after a probe that failed."""
        with self._lock:
            self._failures += 1
            # Not the error itself, which would keep all that its frames hold.
            self._reason, self._refusal = str(error), _refusal_after(error)
            if self._failures < FAILURES:
                return
            opens = self._paused_until is None
            # Requests that were sent before the circuit opened may fail after it: they make no pause longer.
            if opens or is_probe:
                self._paused_until = self._clock() + self._pause
                self._pause = min(LONGEST_PAUSE, self._pause * 2)
                self._probe_ends = None
        if opens:
            self._observer.circuit(open=True)


class Passage:
    """A request that a circuit has let pass, and what came of it. `is_probe`: all others wait for it."""

    __slots__ = ("_circuit", "has_reported", "is_probe")

    def __init__(self, circuit: Circuit, *, is_probe: bool) -> None:
        self._circuit = circuit
        self.is_probe = is_probe
        self.has_reported = False

    def succeeded(self) -> None:
        self.has_reported = True
        self._circuit.succeeded()

    def failed(self, error: PlatformFailure) -> None:
        self.has_reported = True
        self._circuit.failed(error, is_probe=self.is_probe)


def _refusal_after(error: PlatformFailure) -> type[Unavailable]:
    """Return the kind of failure that a refusal is after `error`: nothing was sent, so nothing is lost."""
    if isinstance(error, DeadlineExceeded):
        return TooSlow
    if isinstance(error, Unreachable) and not isinstance(error, AnswerLost):
        return type(error)
    return Unreachable if isinstance(error, AnswerLost) else Unavailable
