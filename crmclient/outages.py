"""Log lines about something that fails repeatedly: one when the outage begins, reminders, and one when it
ends.

Processes that share a place write each line once, not once in each process.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

REMINDER: Final = 60.0
"""Seconds between two lines of an outage that lasts."""

QUIET: Final = 5.0
"""Seconds without a failure after which a success ends the outage.

Failures closer together are one outage.
"""


@dataclass(slots=True)
class OutageState:
    """An outage so far; without failures there is none.

    `since`, `last` (the last failure) and `told` (the last log line) are in seconds of a clock that all
    processes share.
    """

    failures: int = 0
    since: float = 0.0
    last: float = 0.0
    told: float = 0.0

    def facts(self) -> dict[str, Any]:
        """Return the fields of a log line: the number of failures, and the seconds from first to last."""
        return {"failures": self.failures, "outage_seconds": round(self.last - self.since, 1)}


class OutageStore(Protocol):
    """A store of outages that processes share."""

    def state_of(self, fact: str) -> AbstractContextManager[OutageState | None]:
        """Lock and yield the state of the outage `fact`, and store the changes when the block ends.

        Yield None when the store cannot be used.
        """
        ...


_place: OutageStore | None = None


def tell_together(place: OutageStore) -> None:
    """Log each outage once for all processes that share `place`, from now on."""
    global _place
    _place = place


class Outage:
    """The outages of one thing. Safe to share between threads. `worked` costs nothing while nothing has
    failed.

    `away` and `back` are the log lines at the beginning and at the end, `still` is the reminder. `name` tells
    apart outages with the same lines. An outage is over after `quiet` seconds without a failure.
    """

    def __init__(
        self,
        logger: logging.Logger,
        away: str,
        back: str,
        *,
        still: str = "",
        name: str = "",
        level: int = logging.WARNING,
        quiet: float = QUIET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logger
        self._away, self._back, self._still = away, back, still or away
        self._fact = f"{logger.name} {away} {name}"
        self._level = level
        self._quiet = quiet
        self._clock = clock
        self._lock = threading.Lock()
        # What this process itself knows: used where processes share nothing.
        self._own = OutageState()
        self._lasts = False
        # When this process saw its last failure.
        self._last = 0.0

    @property
    def lasts(self) -> bool:
        """Whether this process has seen failures, and not yet the end of the outage."""
        return self._lasts

    def failed(self, error: BaseException | None = None, **about: Any) -> bool:
        """Count a failure, and log it if it is the first of the outage or a reminder is due.

        `about` are further fields of the log line. Return whether the failure is the first.
        """
        with self._lock, self._state() as state:
            now = self._last = state.last = self._clock()
            self._lasts = True
            state.failures += 1
            is_first = state.failures == 1
            if is_first:
                state.since = now
            elif now - state.told < REMINDER:
                return False
            state.told = now
            so_far = {} if is_first else state.facts()
        text = self._away if is_first else self._still
        self._logger.log(self._level, text, exc_info=error if is_first else None, extra={**about, **so_far})
        return is_first

    def worked(self, **about: Any) -> None:
        """Note a success. It ends the outage, with a log line, once nothing has failed for `quiet`
        seconds.
        """
        if not self._lasts:
            return
        with self._lock:
            # This process's own last failure is checked first: it saves most reads of the shared state.
            if not self._lasts or self._clock() - self._last < self._quiet:
                return
            with self._state() as state:
                if self._clock() - state.last < self._quiet:
                    return
                so_far = state.facts()
                state.failures = 0
            self._lasts = False
        # No failures are left when another process has logged the end already.
        if so_far["failures"]:
            self._logger.warning(self._back, extra={**about, **so_far})

    @contextmanager
    def _state(self) -> Iterator[OutageState]:
        """Yield the state that all processes share; this process's own one where they share none, or cannot
        reach it.
        """
        if _place is None:
            yield self._own
            return
        with _place.state_of(self._fact) as state:
            yield self._own if state is None else state
