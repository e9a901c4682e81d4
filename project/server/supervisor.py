"""Starts the workers, starts each anew that ends or falls silent, and says when the service answers."""

from __future__ import annotations

import http.client
import logging
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from granian.server.mp import MPServer

from project.observability.ledger import ledger
from project.server import worker
from project.server.heartbeats import Heartbeats, shared_counts

logger = logging.getLogger("portico.server")

# In seconds, for a worker that ends again and again: the first pause, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# Seconds. A worker that has lived so long has started well: it starts anew at once if it ends.
_STARTED_WELL = 60.0
# Seconds between two looks at a service that has not answered yet.
_LOOK = 0.1
# Seconds in which a worker writes down what its threads are doing, if it still can.
_LAST_WORDS = 0.5
# Connections of a worker; each takes a descriptor, and so do files and the database.
MOST_CONNECTIONS, _OTHER_FILES = 4096, 512
# As many are accepted even where the limit of open files leaves no room for them.
_FEWEST_CONNECTIONS = 64


class Restarts:
    """Says when workers that ended start anew: at once, and after a growing pause if a worker soon ends
    again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # All three by a worker's number. When it is to start, as a time of the clock.
        self._due: dict[int, float] = {}
        # The last pause before it was to start, in seconds.
        self._pauses: dict[int, float] = {}
        # When it last started again, as a time of the clock.
        self._started: dict[int, float] = {}

    def ended(self, number: int) -> float:
        """Note that a worker has ended. Return the seconds until it is started again."""
        now = self._clock()
        # A worker that was never started again counts as one that has lived long: it starts at once.
        lived = now - self._started.get(number, float("-inf"))
        pause = 0.0
        if lived < _STARTED_WELL:
            pause = min(_LONGEST_PAUSE, max(_FIRST_PAUSE, 2 * self._pauses.get(number, 0.0)))
        self._pauses[number] = pause
        self._due[number] = now + pause
        return pause

    def take_due(self) -> list[int]:
        """Return the workers to start now."""
        now = self._clock()
        due = [number for number, when in self._due.items() if when <= now]
        for number in due:
            del self._due[number]
            self._started[number] = now
        return due


class Supervisor(MPServer):
    """Granian's main process, which never gives up: its own loop ends at a worker's second quick failure.

    `announce` is called once, when the service answers, with False when it says that it is not ready.
    `patience`: seconds that a worker may give no sign of life; 0: for ever.
    """

    def __init__(
        self, *arguments: Any, announce: Callable[[bool], None], patience: float, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        # Granian's limit of the connections of one worker, which would follow from its backlog.
        self.backpressure = _room_for_connections()
        self._announce: Callable[[bool], None] | None = announce
        # A count for each worker, which it raises while it answers.
        self._signs_of_life = shared_counts(self.workers)
        self._heartbeats = Heartbeats(self._signs_of_life, patience)

    def serve_and_supervise(self) -> None:
        """Start the workers, and watch over them until the service is stopped."""
        worker.lose_no_signal_at_the_fork()
        self._expect(range(self.workers))
        self.serve(spawn_target=partial(worker.start, self._signs_of_life))

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        """Watch the workers until the server is stopped: restart those that ended, and end those that are
        silent. Once the first worker answers, announce whether the service is ready.
        """
        restarts = Restarts()
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(_LOOK if self._announce else 1.0)
            self.main_loop_interrupt.clear()
            while self.interrupt_children:
                ended = self.interrupt_children.pop()
                pause = restarts.ended(ended)
                ledger.put(lambda metrics: metrics.restarts.inc())
                # This process has no thread that would write it.
                ledger.flush()
                logger.error("Worker %d ended. Another one starts in %.1f s.", ended + 1, pause)
            if self.interrupt_signal:
                break
            due = restarts.take_due()
            self._expect(due)
            self._respawn_workers(due, spawn_target, target_loader)
            for silent in self._heartbeats.silent():
                self._kill(silent)
            if self.reload_signal:
                self._expect(range(self.workers))
                reload: Any = self._reload
                reload(spawn_target, target_loader)
            if self._announce and self._status("/health/live") == http.HTTPStatus.OK:
                # A worker that is asked for it logs what is missing.
                self._announce(self._status("/health/ready") != http.HTTPStatus.SERVICE_UNAVAILABLE)
                self._announce = None

    def _expect(self, workers: Iterable[int]) -> None:
        """Give workers that are about to start the time for it."""
        for number in workers:
            self._heartbeats.starts(number)

    def _kill(self, number: int) -> None:
        """Kill a worker that does not answer: it would not react to a milder signal. Another one starts
        then.
        """
        logger.error("Worker %d does not answer and is ended. Its threads follow.", number + 1)
        process = self.wrks[number].inner
        with suppress(ProcessLookupError):
            os.kill(process.pid, worker.SHOW_THREADS)
            time.sleep(_LAST_WORDS)
            os.kill(process.pid, signal.SIGKILL)

    def _status(self, path: str) -> int | None:
        """Return the status of the service's answer at `path`; None if it does not answer within a second."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.bind_addr or "", self.bind_addr)  # noqa: S104  read, not bound
        connection = http.client.HTTPConnection(str(host), self.bind_port, timeout=1)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def _room_for_connections() -> int:
    """Return how many connections a worker may have. Raise the soft limit of open files as far as needed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted_files = MOST_CONNECTIONS + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted_files:
        soft = wanted_files if hard == resource.RLIM_INFINITY else min(wanted_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(_FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, soft - _OTHER_FILES))
