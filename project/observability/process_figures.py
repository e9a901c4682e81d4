"""The present figures of a server process: threads, waiting requests, connections, memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from project.observability.ledger import ledger
from project.observability.metrics import Metrics
from runtime.serving.served import revision


class Threads(Protocol):
    """The threads for requests: how many, how many are busy, and how many requests wait."""

    @property
    def size(self) -> int: ...

    @property
    def busy(self) -> int: ...

    @property
    def waiting(self) -> int: ...


# Django keeps a thread's connections where no other thread finds them.
_wrappers: WeakSet[BaseDatabaseWrapper] = WeakSet()
_lock = threading.Lock()


def tell_from_now_on() -> None:
    """Add the figures of this process to the metrics from now on."""
    connection_created.connect(_note_connection, dispatch_uid="portico.connections")
    ledger.add_sampler(_sample_process)


def tell_of(threads: Threads) -> None:
    """Add these threads to the metrics from now on."""

    def sample_threads(metrics: Metrics) -> None:
        metrics.threads.set(threads.size)
        metrics.threads_busy.set(threads.busy)
        metrics.waiting.set(threads.waiting)

    ledger.add_sampler(sample_threads)


def _sample_process(metrics: Metrics) -> None:
    """Set the figures of this process that are not about threads."""
    metrics.workers.set(1)
    with _lock:
        metrics.connections.set(sum(wrapper.connection is not None for wrapper in _wrappers))
    metrics.resident.set(_resident())
    if (number := revision()) is not None:
        metrics.revision.set(number)


def _note_connection(connection: BaseDatabaseWrapper, **signal: Any) -> None:
    """Remember the wrapper of a database connection that was opened."""
    with _lock:
        _wrappers.add(connection)


def _resident() -> int:
    """Return the resident memory of this process in bytes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
