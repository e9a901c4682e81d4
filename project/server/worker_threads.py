"""The request threads of a worker."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

logger = logging.getLogger("portico.server")

Job = Callable[[], None]


class ThreadPool:
    """A fixed number of threads that do jobs. Among idle threads, the one that worked last gets the next job.

    One thread then serves one caller after the other: the cache of its database connection is warm, and those
    of the others stay empty. Of jobs that keep a processor busy, `most_heavy` are done at once.
    """

    def __init__(self, size: int, most_heavy: int = 1) -> None:
        self.size = size
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._most_heavy = most_heavy
        # Heavy jobs that a thread does or is about to do, and those that wait for one of them to end.
        self._heavy = 0
        self._heavy_waiting: deque[Job] = deque()
        # The queues of idle threads, the one that worked last at the end. A thread takes its next job from
        # its own.
        self._idle: list[SimpleQueue[Job]] = []
        for number in range(size):
            threading.Thread(target=self._work, name=f"request-{number + 1}", daemon=True).start()

    @property
    def busy(self) -> int:
        """The number of threads that have a job now."""
        return self.size - len(self._idle)

    @property
    def waiting(self) -> int:
        """The number of jobs that no thread has begun."""
        return len(self._waiting) + len(self._heavy_waiting)

    def put(self, job: Job) -> None:
        """Let a thread do `job`. Does not wait."""
        self._put(job, self._waiting.append)

    def put_heavy(self, job: Job) -> None:
        """Let a thread do a `job` that keeps a processor busy, after those that were put before. Does not
        wait, and no thread waits with it.
        """
        with self._lock:
            if self._heavy == self._most_heavy:
                self._heavy_waiting.append(job)
                return
            self._heavy += 1
        self.put(partial(self._do_heavy, job))

    def _do_heavy(self, job: Job) -> None:
        """Do a heavy job, and then give its place to the next one that waits."""
        try:
            job()
        finally:
            with self._lock:
                next_job = self._heavy_waiting.popleft() if self._heavy_waiting else None
                if next_job is None:
                    self._heavy -= 1
            if next_job is not None:
                # It goes behind all waiting jobs: logins do not hold up everybody else.
                self.put(partial(self._do_heavy, next_job))

    def put_first(self, job: Job) -> None:
        """Let a thread do `job` before all waiting jobs. Does not wait."""
        self._put(job, self._waiting.appendleft)

    def _put(self, job: Job, let_wait: Callable[[Job], None]) -> None:
        """Give a job to the thread that became idle last; without an idle one, call `let_wait` with it."""
        with self._lock:
            if not self._idle:
                # Under the lock: a thread that becomes idle looks at the waiting jobs first, under it, too.
                let_wait(job)
                return
            queue = self._idle.pop()
        queue.put(job)

    def _work(self) -> None:
        """Do one job after the other, as long as the process lives."""
        own_queue: SimpleQueue[Job] = SimpleQueue()
        while True:
            job = self._next_job(own_queue) or own_queue.get()
            try:
                job()
            except BaseException:
                # Whatever it was, the thread is needed for the next one.
                logger.exception("a request was not answered")
            # An idle thread would keep its last request, and perhaps the connection open.
            del job

    def _next_job(self, own_queue: SimpleQueue[Job]) -> Job | None:
        """Return a waiting job; None when there is none. This thread is then among the idle ones."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(own_queue)
            return None
