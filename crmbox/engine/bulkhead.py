"""Limits the number of calls at once, so that slow calls do not occupy every thread of the service.

A call without a free place waits in a queue, which is limited too. When the queue is full, a further call
would occupy one of the last threads. It may wait nevertheless as long as calls are so short that a place is
free again at once.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Final

from crmclient.errors import Busy

LONGEST_WAIT: Final = 2.0
"""Seconds in the queue."""

_QUICK: Final = 0.25
"""Seconds. Calls count as quick while a typical call is shorter, and a place was taken or freed as
recently.
"""

# The weight of one call in the moving average of durations, and the most seconds that it counts for.
_WEIGHT, _MOST = 0.125, 1.0


class Bulkhead:
    """Has `places` for calls, and a queue for `queue` more. A thread that has a place needs no second one."""

    def __init__(self, places: int, queue: int) -> None:
        self._free = places
        self._queue = queue
        # How many threads wait now, in the queue or beyond it.
        self._waiting = 0
        self._lock = threading.Lock()
        self._place_freed = threading.Condition(self._lock)
        # When a place was taken or freed last, and the moving average of how long calls hold one.
        self._last_change = time.monotonic()
        self._average_seconds = 0.0
        # Its attribute `inside` says whether the current thread holds a place.
        self._thread = threading.local()

    def place(self, deadline: float | None) -> Place:
        """Return a context manager that holds a place. Entering it raises Busy without a place by
        `deadline`.

        `deadline` is in seconds of `time.monotonic()`; None: wait up to `LONGEST_WAIT`.
        """
        return Place(self, deadline)

    def enter(self, deadline: float | None) -> bool:
        """Take a place, and return True; return False when the thread has one already. Raises Busy."""
        if getattr(self._thread, "inside", False):
            return False
        with self._lock:
            if not self._free:
                self._wait(deadline)
            self._free -= 1
            self._last_change = time.monotonic()
        self._thread.inside = True
        return True

    def leave(self, seconds: float) -> None:
        """Give back the place that this thread has held for `seconds`, and wake one waiting thread."""
        self._thread.inside = False
        with self._lock:
            self._free += 1
            self._last_change = time.monotonic()
            # An exponential moving average. One very slow call must not count for minutes.
            self._average_seconds += (min(seconds, _MOST) - self._average_seconds) * _WEIGHT
            if self._waiting:
                self._place_freed.notify()

    def _wait(self, deadline: float | None) -> None:
        """Wait until a place is free. The caller holds the lock; waiting releases it for as long.

        A thread that no longer fits into the queue waits only while calls are quick. Raises Busy at
        the deadline, after LONGEST_WAIT, and when the queue is full and calls are not quick.
        """
        began = time.monotonic()
        ends = began + LONGEST_WAIT if deadline is None else min(deadline, began + LONGEST_WAIT)
        in_queue = self._waiting < self._queue
        self._waiting += 1
        try:
            while not self._free:
                now = time.monotonic()
                if now >= ends or not (in_queue or self._is_quick(now)):
                    raise Busy("Too many requests to the platform are under way.", retry_after=1)
                # A thread beyond the queue wakes in between to look again whether calls are still quick.
                self._place_freed.wait(ends - now if in_queue else min(ends - now, _QUICK))
        finally:
            self._waiting -= 1

    def _is_quick(self, now: float) -> bool:
        """Whether calls are so short at the moment that a place will be free again soon."""
        return self._average_seconds < _QUICK and now - self._last_change < _QUICK


class Place:
    """A place in a bulkhead, for the length of a `with` block."""

    __slots__ = ("_began", "_bulkhead", "_deadline", "_has_place")

    def __init__(self, bulkhead: Bulkhead, deadline: float | None) -> None:
        self._bulkhead = bulkhead
        self._deadline = deadline

    def __enter__(self) -> None:
        # False where an outer block of the thread holds the place, and gives it back.
        self._has_place = self._bulkhead.enter(self._deadline)
        self._began = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_place:
            self._bulkhead.leave(time.monotonic() - self._began)
