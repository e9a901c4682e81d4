"""Signs of life of the workers, and who has given none for too long.

A worker counts up in memory that it shares with its supervisor. Each count has gone through its event loop
and one of its request threads, so a worker that counts answers, however much it has to do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import c_ulonglong, sizeof
from dataclasses import dataclass
from mmap import mmap
from multiprocessing import get_context
from typing import Any

INTERVAL = 1.0
"""Seconds from one sign of life to the next."""

# Seconds that a worker may take to start. It may have to wait for a database that hangs.
STARTS_WITHIN = 300.0
# Seconds. A supervisor that has not looked for so long was suspended, and the workers may have been, too.
_SUSPENDED = 5.0


def shared_counts(workers: int, method: str | None = None) -> Any:
    """Return an array of one count for each worker, shared with processes that are started by `method`."""
    context = get_context(method)
    if context.get_start_method() != "fork":
        return context.RawArray("Q", workers)
    # Memory that is inherited needs no file: /dev/shm is missing or closed to the service in some containers.
    counts = c_ulonglong * workers
    return counts.from_buffer(mmap(-1, sizeof(counts)))


def count_up(
    counts: Any, worker: int, loop: asyncio.AbstractEventLoop, put_first: Callable[[Callable[[], None]], None]
) -> None:
    """Count up from now on, in worker number `worker`.

    `put_first` lets a request thread do a job before all waiting requests: a long queue does not make a
    worker count as silent.
    """

    def on_the_loop() -> None:
        """Let a request thread count. It is called on the event loop."""
        put_first(on_a_thread)

    def on_a_thread() -> None:
        """Count, and let the event loop call again after the interval."""
        counts[worker] += 1
        # The loop of a worker that ends is closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.call_later, INTERVAL, on_the_loop)

    loop.call_soon(on_the_loop)


@dataclass(slots=True)
class _Sign:
    """The last count of a worker's heartbeats, and the moment since when it has not changed."""

    count: int
    since: float


class Heartbeats:
    """The heartbeats of workers, as a supervisor sees them in `counts`.

    `patience` is in seconds; 0 turns the check off.
    """

    def __init__(
        self, counts: Sequence[int], patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Written to as well: a worker that starts anew begins at 0.
        self._counts: Any = counts
        self._patience = patience
        self._clock = clock
        self._signs: dict[int, _Sign] = {}
        self._looked = clock()

    def starts(self, worker: int) -> None:
        """Note that `worker` is a new process, which has not counted yet."""
        self._counts[worker] = 0
        self._signs[worker] = _Sign(0, self._clock())

    def silent(self) -> list[int]:
        """Return the workers that have not counted for too long, each once until it starts again.

        Call this about every second.
        """
        now = self._clock()
        # Workers that were suspended, too, get all of their time again.
        if now - self._looked > _SUSPENDED:
            for sign in self._signs.values():
                sign.since = now
        self._looked = now
        if not self._patience:
            return []
        workers = []
        for worker, sign in self._signs.items():
            count = self._counts[worker]
            if count != sign.count:
                sign.count, sign.since = count, now
            # Without any count the worker is still starting.
            elif now - sign.since > (self._patience if count else max(STARTS_WITHIN, self._patience)):
                workers.append(worker)
        for worker in workers:
            del self._signs[worker]
        return workers
