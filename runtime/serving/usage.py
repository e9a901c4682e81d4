"""How often endpoints are called, and when last: counted in memory, written in batches.

A request pays for a lock and an addition. What a killed process had not written is lost: at most the calls of
the last `INTERVAL` seconds.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from django.db import DatabaseError, IntegrityError, close_old_connections, connections, transaction
from django.db.models import F

from designer.models import EndpointCalls

logger = logging.getLogger("portico.usage")

INTERVAL = 10.0
# Of each endpoint the newest row is kept for ever: it says when it was called last.
KEPT = dt.timedelta(days=35)

_Place: TypeAlias = tuple[str, dt.datetime]


_LONG_AGO = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(slots=True)
class _Counts:
    calls: int = 0
    refused: int = 0
    failed: int = 0
    last: dt.datetime = _LONG_AGO

    def add(self, other: _Counts) -> None:
        self.calls += other.calls
        self.refused += other.refused
        self.failed += other.failed
        self.last = max(self.last, other.last)


class Usage:
    """The counts of this process that are not written yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: defaultdict[_Place, _Counts] = defaultdict(_Counts)
        self._writes = False
        self._writer: int | None = None

    def count(self, endpoint: str, status: int) -> None:
        """One answer of the endpoint with key `endpoint`."""
        now = dt.datetime.now(dt.UTC)
        place = endpoint, now.replace(minute=0, second=0, microsecond=0)
        with self._lock:
            counts = self._counts[place]
            counts.calls += 1
            counts.refused += 400 <= status < 500
            counts.failed += status >= 500
            counts.last = now
        if self._writes and self._writer != os.getpid():
            self._start_writer()

    def write_from_now_on(self) -> None:
        """Let a thread write the counts. It starts with the first call, so that it lives in the worker."""
        self._writes = True

    def flush(self) -> None:
        """Write what was counted. Raises DatabaseError; the counts are kept then."""
        with self._lock:
            taken, self._counts = self._counts, defaultdict(_Counts)
        try:
            with transaction.atomic():
                for place, counts in sorted(taken.items()):
                    _write(*place, counts)
        except DatabaseError:
            with self._lock:
                for place, counts in taken.items():
                    self._counts[place].add(counts)
            raise

    def _start_writer(self) -> None:
        with self._lock:
            if self._writer == os.getpid():
                return
            self._writer = os.getpid()
        threading.Thread(target=self._write_again_and_again, name="usage", daemon=True).start()

    def _write_again_and_again(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(INTERVAL)
            if not self._counts:
                continue
            # As at the beginning of a request: a connection that died meanwhile is replaced.
            close_old_connections()
            try:
                self.flush()
            except DatabaseError as error:
                logger.warning("Calls were counted but not written.", extra={"reason": type(error).__name__})
                connections.close_all()


def _write(endpoint: str, hour: dt.datetime, counts: _Counts) -> None:
    if _add(endpoint, hour, counts):
        return
    try:
        with transaction.atomic():
            EndpointCalls.objects.create(
                endpoint=endpoint,
                hour=hour,
                calls=counts.calls,
                refused=counts.refused,
                failed=counts.failed,
                last_at=counts.last,
            )
    except IntegrityError:
        # Another process was first.
        _add(endpoint, hour, counts)


def _add(endpoint: str, hour: dt.datetime, counts: _Counts) -> int:
    return EndpointCalls.objects.filter(endpoint=endpoint, hour=hour).update(
        calls=F("calls") + counts.calls,
        refused=F("refused") + counts.refused,
        failed=F("failed") + counts.failed,
        last_at=counts.last,
    )


usage = Usage()
