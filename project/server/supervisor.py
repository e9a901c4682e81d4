"""Starts the workers, starts each anew that ends, and says when the service answers."""

from __future__ import annotations

import http.client
import logging
import resource
import time
from collections.abc import Callable
from typing import Any

from granian.server.mp import MPServer

logger = logging.getLogger("portico.server")

# Of a worker that ends again and again: the first pause, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# Whoever has lived so long has started well: the next pause is the first again.
_STARTED_WELL = 60.0
_LOOK = 0.1
# Connections of a worker; each takes a descriptor, and so do files and the database.
MOST_CONNECTIONS, _OTHER_FILES = 4096, 512


class Restarts:
    """When workers that ended start anew: at once, and after growing pauses where one soon ends again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due: dict[int, float] = {}
        self._pauses: dict[int, float] = {}
        self._started: dict[int, float] = {}

    def ended(self, worker: int) -> float:
        """The seconds until it is started anew."""
        now = self._clock()
        lived = now - self._started.get(worker, float("-inf"))
        pause = 0.0
        if lived < _STARTED_WELL:
            pause = min(_LONGEST_PAUSE, max(_FIRST_PAUSE, 2 * self._pauses.get(worker, 0.0)))
        self._pauses[worker] = pause
        self._due[worker] = now + pause
        return pause

    def take_due(self) -> list[int]:
        """The workers to start now."""
        now = self._clock()
        due = [worker for worker, when in self._due.items() if when <= now]
        for worker in due:
            del self._due[worker]
            self._started[worker] = now
        return due


class Supervisor(MPServer):
    """Granian's main process, which never gives up: its own loop ends at a worker's second quick failure."""

    def __init__(self, *arguments: Any, announce: Callable[[], None], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.backpressure = _room_for_connections()
        self._announce: Callable[[], None] | None = announce

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        restarts = Restarts()
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(_LOOK if self._announce else 1.0)
            self.main_loop_interrupt.clear()
            while self.interrupt_children:
                worker = self.interrupt_children.pop()
                pause = restarts.ended(worker)
                logger.error("Worker %d ended. Another one starts in %.1f s.", worker + 1, pause)
            if self.interrupt_signal:
                break
            self._respawn_workers(restarts.take_due(), spawn_target, target_loader)
            if self.reload_signal:
                reload: Any = self._reload
                reload(spawn_target, target_loader)
            if self._announce and self._answers():
                self._announce()
                self._announce = None

    def _answers(self) -> bool:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.bind_addr or "", self.bind_addr)  # noqa: S104  read, not bound
        connection = http.client.HTTPConnection(str(host), self.bind_port, timeout=1)
        try:
            connection.request("GET", "/health/live", headers={"Connection": "close"})
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def _room_for_connections() -> int:
    """How many connections a worker may have, with the soft limit of open files raised as far as needed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(64, min(MOST_CONNECTIONS, soft - _OTHER_FILES))
