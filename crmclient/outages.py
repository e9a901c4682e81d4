"""What the log says of something that fails again and again: that it began, lasts, and is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

REMINDER: Final = 60.0
"""Seconds between two lines of an outage that lasts."""

QUIET: Final = 5.0
"""Seconds without a failure after which a success is believed: what comes and goes is one outage."""


class Outage:
    """Of one thing. Safe to share between threads; `worked` costs nothing while nothing has failed.

    `away` and `back` are the lines at its beginning and its end, `still` those in between.
    """

    def __init__(
        self,
        logger: logging.Logger,
        away: str,
        back: str,
        *,
        still: str = "",
        level: int = logging.WARNING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logger
        self._away, self._back, self._still = away, back, still or away
        self._level = level
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._since = self._last = self._told = 0.0

    @property
    def lasts(self) -> bool:
        return self._failures > 0

    def failed(self, error: BaseException | None = None, **about: Any) -> None:
        """The first of many is told with its `error`."""
        with self._lock:
            now = self._last = self._clock()
            self._failures += 1
            is_first = self._failures == 1
            if is_first:
                self._since = now
            elif now - self._told < REMINDER:
                return
            self._told = now
            so_far = {} if is_first else self._so_far()
        text = self._away if is_first else self._still
        self._logger.log(self._level, text, exc_info=error if is_first else None, extra={**about, **so_far})

    def worked(self, **about: Any) -> None:
        if not self._failures:
            return
        with self._lock:
            if not self._failures or self._clock() - self._last < QUIET:
                return
            so_far = self._so_far()
            self._failures = 0
        self._logger.warning(self._back, extra={**about, **so_far})

    def _so_far(self) -> dict[str, Any]:
        return {"failures": self._failures, "outage_seconds": round(self._last - self._since, 1)}
