"""What the log says of something that fails again and again: that it began, lasts, and is over.

Processes that have a place in common tell a fact once, and not once each.
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
"""Seconds without a failure after which a success is believed: what comes and goes is one outage."""


@dataclass(slots=True)
class Course:
    """An outage so far. Without failures there is none; moments are of a clock that all processes share."""

    failures: int = 0
    since: float = 0.0
    last: float = 0.0
    told: float = 0.0

    def facts(self) -> dict[str, Any]:
        return {"failures": self.failures, "outage_seconds": round(self.last - self.since, 1)}


class Place(Protocol):
    """Where processes keep the courses of their outages in common."""

    def course_of(self, fact: str) -> AbstractContextManager[Course | None]:
        """The course of `fact`, which nobody else sees until the block ends; what the block makes of it is
        kept. None where there is nothing in common.
        """
        ...


_place: Place | None = None


def tell_together(place: Place) -> None:
    """From now on tell an outage once for all processes that share `place`."""
    global _place
    _place = place


class Outage:
    """Of one thing. Safe to share between threads; `worked` costs nothing while nothing has failed.

    `away` and `back` are the lines at its beginning and its end, `still` those in between. `name` tells it
    from others that are told in the same words. After `quiet` seconds without a failure it is over.
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
        self._own = Course()
        self._lasts = False
        self._last = 0.0

    @property
    def lasts(self) -> bool:
        """Whether this process has seen failures, and no end of them."""
        return self._lasts

    def failed(self, error: BaseException | None = None, **about: Any) -> bool:
        """The first of many is told with its `error`; whether this is it."""
        with self._lock, self._course() as course:
            now = self._last = course.last = self._clock()
            self._lasts = True
            course.failures += 1
            is_first = course.failures == 1
            if is_first:
                course.since = now
            elif now - course.told < REMINDER:
                return False
            course.told = now
            so_far = {} if is_first else course.facts()
        text = self._away if is_first else self._still
        self._logger.log(self._level, text, exc_info=error if is_first else None, extra={**about, **so_far})
        return is_first

    def worked(self, **about: Any) -> None:
        if not self._lasts:
            return
        with self._lock:
            # Most successes come too early: only then the others have to be asked.
            if not self._lasts or self._clock() - self._last < self._quiet:
                return
            with self._course() as course:
                if self._clock() - course.last < self._quiet:
                    return
                so_far = course.facts()
                course.failures = 0
            self._lasts = False
        # Without failures another process has told the end.
        if so_far["failures"]:
            self._logger.warning(self._back, extra={**about, **so_far})

    @contextmanager
    def _course(self) -> Iterator[Course]:
        if _place is None:
            yield self._own
            return
        with _place.course_of(self._fact) as course:
            yield self._own if course is None else course
