"""At most so many requests at once: a slow platform must not take every thread of the service with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from crmclient.dataverse.http.observer import Observer
from crmclient.errors import Unavailable

LONGEST_WAIT: Final = 2.0
"""Seconds in the queue; whoever waits longer is told to come again, so that the queue stays short."""


def threads_held(size: int) -> int:
    """How many threads a bulkhead of that size ever holds: those with a place, and as many in the queue."""
    return 2 * size


class Bulkhead:
    """With `size` places, and a queue as long: nobody else is kept waiting."""

    def __init__(self, size: int, observer: Observer) -> None:
        self._places = threading.BoundedSemaphore(size)
        self._queue = threading.BoundedSemaphore(threads_held(size) - size)
        self._observer = observer

    @contextmanager
    def place(self, ends: float) -> Iterator[None]:
        """A place, until `ends` (a `time.monotonic()` second) at the latest. Raises Unavailable."""
        if not self._places.acquire(blocking=False):
            began = time.monotonic()
            admitted = self._wait(max(0.0, min(LONGEST_WAIT, ends - began)))
            self._observer.waited(time.monotonic() - began, admitted=admitted)
            if not admitted:
                raise Unavailable("Too many requests to the platform are under way.", retry_after=1)
        try:
            yield
        finally:
            self._places.release()

    def _wait(self, seconds: float) -> bool:
        """Whether there was room in the queue, and then a place in time."""
        if not self._queue.acquire(blocking=False):
            return False
        try:
            return self._places.acquire(timeout=seconds)
        finally:
            self._queue.release()
