"""What a process counts in memory, and one thread of it writes to the database in batches.

Whoever counts pays for a lock and an addition. What a killed process had not written is lost: at most the
counts of the last `interval` seconds.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from django.db import DatabaseError, IntegrityError, close_old_connections, connections, transaction

from crmclient.outages import Outage


class Addable(Protocol):
    """A count to which another one can be added."""

    def add(self, other: Any, /) -> None:
        """Add the count of the same place that is in `other`, an object of the same class."""
        ...


Place = TypeVar("Place", bound=tuple[Any, ...])
Count = TypeVar("Count", bound=Addable)


class BatchedCounts(ABC, Generic[Place, Count]):
    """The counts of this process that are not written yet, by place. A place is the key of a row of the
    table.

    `new` makes an empty count. A thread writes every `interval` seconds, and is called `name`. A subclass
    counts with `_lock` held, and then calls `_write_later`.
    """

    def __init__(self, new: Callable[[], Count], *, interval: float, name: str, outage: Outage) -> None:
        self._lock = threading.Lock()
        self._new = new
        self._counts: defaultdict[Place, Count] = defaultdict(new)
        self._interval = interval
        self._name = name
        self._outage = outage
        self._writes = False
        # The id of the process whose thread writes.
        self._writer: int | None = None

    @abstractmethod
    def _add(self, place: Place, count: Count) -> int:
        """Add `count` to the row of a place. Return the number of rows changed: 0 when there is no
        row yet.
        """

    @abstractmethod
    def _create(self, place: Place, count: Count) -> None:
        """Make the row of a place. Raises IntegrityError where another process has."""

    def write_from_now_on(self) -> None:
        """Let a thread write the counts. It starts with the first count, so that it lives in the worker."""
        self._writes = True

    def flush(self) -> None:
        """Write the counts to the database. Raises DatabaseError, and then keeps the counts for the next
        flush.
        """
        with self._lock:
            counts_to_write, self._counts = self._counts, defaultdict(self._new)
        if not counts_to_write:
            return
        try:
            with transaction.atomic():
                # In one order everywhere: two processes never wait for each other's rows.
                for place, count in sorted(counts_to_write.items(), key=lambda item: item[0]):
                    self._write(place, count)
        except DatabaseError:
            with self._lock:
                for place, count in counts_to_write.items():
                    self._counts[place].add(count)
            raise

    def _write(self, place: Place, count: Count) -> None:
        """Add a count to the row of its place, which is created if there is none."""
        if self._add(place, count):
            return
        try:
            with transaction.atomic():
                self._create(place, count)
        except IntegrityError:
            # Another process was first.
            self._add(place, count)

    def _write_later(self) -> None:
        """See that the thread which writes the counts runs in this process."""
        # A process that was forked has the counts, but not the thread.
        if self._writes and self._writer != os.getpid():
            self._start_writer()

    def _start_writer(self) -> None:
        """Start the thread that writes, unless another thread has just done so."""
        with self._lock:
            if self._writer == os.getpid():
                return
            self._writer = os.getpid()
        threading.Thread(target=self._write_repeatedly, name=self._name, daemon=True).start()

    def _write_repeatedly(self) -> None:
        """Write the counts at every interval, as long as the process lives."""
        pause = threading.Event()
        while True:
            pause.wait(self._interval)
            if not self._counts:
                continue
            # Django does this at the beginning of a request: it replaces a connection that has died
            # meanwhile.
            close_old_connections()
            try:
                self.flush()
            except DatabaseError as error:
                self._outage.failed(reason=type(error).__name__)
                connections.close_all()
            else:
                self._outage.worked()
