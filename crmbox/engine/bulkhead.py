"""At most so many calls at once: slow ones must not take every thread of the service with them.

A call that finds no place free waits for one, in a queue that is bounded too. Whoever comes when the queue is
full would take one of the last threads, and may do so only while places are given back so fast that nobody
notices.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Final

from crmclient.errors import Unavailable

LONGEST_WAIT: Final = 2.0
"""Seconds in the queue."""

_QUICK: Final = 0.25
"""Seconds: of what holds a place no longer than that, and gives one back as often, nobody is kept waiting."""

# How much one call counts in what is typical, and the most seconds that it counts as.
_WEIGHT, _MOST = 0.125, 1.0


class Bulkhead:
    """With `places`, and a queue for `queue` more. A thread that has a place needs no other."""

    def __init__(self, places: int, queue: int) -> None:
        self._free = places
        self._queue = queue
        self._waiting = 0
        self._lock = threading.Lock()
        self._given_back = threading.Condition(self._lock)
        self._moved = time.monotonic()
        self._typical = 0.0
        self._thread = threading.local()

    def place(self, deadline: float | None) -> Place:
        """`with bulkhead.place(deadline):` raises Unavailable where there is none by then."""
        return Place(self, deadline)

    def enter(self, deadline: float | None) -> bool:
        """Whether the thread took a place; where not, it has one. Raises Unavailable."""
        if getattr(self._thread, "inside", False):
            return False
        with self._lock:
            if not self._free:
                self._wait(deadline)
            self._free -= 1
            self._moved = time.monotonic()
        self._thread.inside = True
        return True

    def leave(self, seconds: float) -> None:
        """Give the place back that was held for `seconds`."""
        self._thread.inside = False
        with self._lock:
            self._free += 1
            self._moved = time.monotonic()
            self._typical += (min(seconds, _MOST) - self._typical) * _WEIGHT
            if self._waiting:
                self._given_back.notify()

    def _wait(self, deadline: float | None) -> None:
        began = time.monotonic()
        ends = began + LONGEST_WAIT if deadline is None else min(deadline, began + LONGEST_WAIT)
        in_queue = self._waiting < self._queue
        self._waiting += 1
        try:
            while not self._free:
                now = time.monotonic()
                if now >= ends or not (in_queue or self._is_quick(now)):
                    raise Unavailable("Too many requests to the platform are under way.", retry_after=1)
                self._given_back.wait(ends - now if in_queue else min(ends - now, _QUICK))
        finally:
            self._waiting -= 1

    def _is_quick(self, now: float) -> bool:
        return self._typical < _QUICK and now - self._moved < _QUICK


class Place:
    """A place in a bulkhead, for the length of a `with` block."""

    __slots__ = ("_began", "_bulkhead", "_deadline", "_taken")

    def __init__(self, bulkhead: Bulkhead, deadline: float | None) -> None:
        self._bulkhead = bulkhead
        self._deadline = deadline

    def __enter__(self) -> None:
        self._taken = self._bulkhead.enter(self._deadline)
        self._began = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._taken:
            self._bulkhead.leave(time.monotonic() - self._began)
