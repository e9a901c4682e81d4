"""Limits the requests at once, so that a slow platform does not take every thread of the service."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from crmclient.dataverse.http.budget import SHARES, Limits, left
from crmclient.dataverse.http.observer import Observer
from crmclient.errors import Busy
from crmclient.platform import Share
from crmclient.sentences import Sentence

LONGEST_WAIT: Final = 2.0
"""Seconds in the queue; whoever waits longer is told to come again, so that the queue stays short."""


def threads_held(size: int) -> int:
    """Return the most threads that a bulkhead of `size` holds: those with a place, and as many in its
    queue.
    """
    return 2 * size


class _Waiting:
    """Who waits for a place, of which group. `admitted` is set when it has one.

    `is_queued` says whether the queue had room for it. It stays as it was when the queue admits it.
    """

    def __init__(self, share: Share, *, is_queued: bool) -> None:
        self.share = share
        self.is_queued = is_queued
        self.admitted = threading.Event()


class Bulkhead:
    """Limits the requests under way at once: `size` have a place, and as many wait in a queue. Others are
    refused.

    Some places, in both, are kept free for each group, by the shares of the budget: readers who wait do not
    keep writers out.
    """

    def __init__(self, size: int, observer: Observer, limits: Limits | None = None) -> None:
        self._size = size
        self._limits = limits or Limits()
        self._queue_size = threads_held(size) - size
        self._observer = observer
        self._lock = threading.Lock()
        # How many requests of each group have a place.
        self._inside: Counter[Share] = Counter()
        self._queue: list[_Waiting] = []

    @contextmanager
    def place(self, ends: float, share: Share = Share.BACKGROUND) -> Iterator[None]:
        """Wait for a place, and hold it during the block.

        Raises Busy if there is none within LONGEST_WAIT seconds, or before `ends` (a
        `time.monotonic()` second).
        """
        waiting = self._enter(share)
        if waiting is not None:
            began = time.monotonic()
            admitted = self._wait(waiting, max(0.0, min(LONGEST_WAIT, ends - began)))
            self._observer.waited(time.monotonic() - began, admitted=admitted)
            if not admitted:
                raise Busy(Sentence("Too many requests to the platform are under way."), retry_after=1)
        try:
            yield
        finally:
            self._leave(share)

    def _enter(self, share: Share) -> _Waiting | None:
        """Take a place and return None, if there is one. Else return who waits.

        The queue holds who waits only if it had room: `_wait` refuses the others.
        """
        with self._lock:
            if self._has_room(share):
                self._inside[share] += 1
                return None
            queued = Counter(other.share for other in self._queue)
            waiting = _Waiting(share, is_queued=self._room(self._queue_size, queued, share) >= 1)
            if waiting.is_queued:
                self._queue.append(waiting)
            return waiting

    def _wait(self, waiting: _Waiting, seconds: float) -> bool:
        """Return whether `waiting` was in the queue and got a place within `seconds`."""
        if not waiting.is_queued:
            return False
        waiting.admitted.wait(seconds)
        with self._lock:
            if waiting.admitted.is_set():
                return True
            self._queue.remove(waiting)
            return False

    def _leave(self, share: Share) -> None:
        """Give up a place, and pass it to the first one in the queue who may have it."""
        with self._lock:
            self._inside[share] -= 1
            for waiting in self._queue:
                if self._has_room(waiting.share):
                    self._queue.remove(waiting)
                    self._inside[waiting.share] += 1
                    waiting.admitted.set()
                    return

    def _has_room(self, share: Share) -> bool:
        """Whether a place is free for a group, beside those that are kept free for other groups."""
        return self._room(self._size, self._inside, share) >= 1

    def _room(self, size: int, used: Counter[Share], share: Share) -> float:
        """Return how many of `size` places are left for a group, when the groups have `used` so many."""
        return left(size, [used[group] for group in SHARES], 0, share, self._limits)
