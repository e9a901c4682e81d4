"""Threads that fetch metadata, so that whoever asks for them need not wait until they are there."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, Final, Generic, TypeVar

from crmclient.tally import Tally, current, current_tally

IDLE_SECONDS: Final = 10.0
"""A thread that has had nothing to do for so long ends."""

Fetched = TypeVar("Fetched")


class Fetch(Generic[Fetched]):
    """Something that is being fetched on another thread."""

    def __init__(self, tally: Tally) -> None:
        self.future: Future[Fetched] = Future()
        self.tally = tally
        self._counted = False

    def is_done_within(self, seconds: float | None) -> bool:
        """Wait until it is done, at most `seconds` (None: as long as it takes). Return whether it is."""
        # The wait counts as time that the work under way spends on the platform.
        with current_tally():
            return bool(wait([self.future], seconds).done)

    def result(self) -> Fetched:
        """Wait until it is done. Return what was fetched, or raise what went wrong.

        The calls that it took are counted for whoever is the first to be told.
        """
        if not self.future.done():
            self.is_done_within(None)
        if not self._counted:
            self._counted = True
            current_tally().calls += self.tally.calls
        error = self.future.exception()
        if error is not None:
            # Without the frames of whoever was told before.
            raise error.with_traceback(None)
        return self.future.result()


class FetchOfPart(Generic[Fetched]):
    """What one of several is told of a fetch for all of them: `pick` takes it from the result."""

    def __init__(self, whole: Fetch[Any], pick: Callable[[Any], Fetched]) -> None:
        self._whole = whole
        self._pick = pick

    def is_done_within(self, seconds: float | None) -> bool:
        return self._whole.is_done_within(seconds)

    def result(self) -> Fetched:
        return self._pick(self._whole.result())


class FetchThreads:
    """Up to `size` daemon threads, which are started when they are needed and end when they are not.

    They are daemons because a service that stops does not wait for a platform that is slow.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads = 0
        self._unfinished = 0

    def start(self, fetch: Callable[[], Fetched]) -> Fetch[Fetched]:
        """Have something fetched as soon as a thread is free, under the correlation of the work under way."""
        started: Fetch[Fetched] = Fetch(current_tally().branch())
        context = copy_context()
        context.run(current.set, started.tally)

        def work() -> None:
            """Run the fetch on a thread of its own, in the context of whoever asked, and tell its result."""
            try:
                value = context.run(fetch)
            except BaseException as error:
                started.future.set_exception(error)
            else:
                started.future.set_result(value)

        with self._lock:
            self._unfinished += 1
            needs_thread = self._threads < min(self._size, self._unfinished)
            if needs_thread:
                self._threads += 1
        self._waiting.put(work)
        if needs_thread:
            threading.Thread(target=self._run, name="metadata-fetch", daemon=True).start()
        return started

    def _run(self) -> None:
        """Do what is waiting, one after the other, until nothing has come for IDLE_SECONDS."""
        while True:
            try:
                work = self._waiting.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    # Counted before it was put: what has just come is not left without a thread.
                    if self._unfinished < self._threads:
                        self._threads -= 1
                        return
                continue
            work()
            with self._lock:
                self._unfinished -= 1
