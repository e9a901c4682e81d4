"""The threads that work."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

logger = logging.getLogger("portico.server")

Job = Callable[[], None]


class Crew:
    """So many threads. Of idle ones, the last to have worked gets the next job.

    One caller after the other is then served by one thread: its connection's cache is warm, and those
    of the others stay empty.
    """

    def __init__(self, size: int) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._idle: list[SimpleQueue[Job]] = []
        for number in range(size):
            threading.Thread(target=self._work, name=f"request-{number + 1}", daemon=True).start()

    def put(self, job: Job) -> None:
        """Have `job` done. Does not wait."""
        with self._lock:
            if not self._idle:
                self._waiting.append(job)
                return
            hand = self._idle.pop()
        hand.put(job)

    def _work(self) -> None:
        own: SimpleQueue[Job] = SimpleQueue()
        while True:
            job = self._next(own) or own.get()
            try:
                job()
            except BaseException:
                # Whatever it was, the thread is needed for the next one.
                logger.exception("a request was not answered")

    def _next(self, own: SimpleQueue[Job]) -> Job | None:
        """A job that waits; None when there is none, and this thread is among the idle ones now."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(own)
            return None
