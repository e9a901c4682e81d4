"""The records of requests that have been answered, on their way into metrics, the log and traces.

A request pays for a queue. One thread of the process takes from it what has come within a moment, so that a
busy service writes many lines at once and adds to each figure once. What a killed process had not written is
lost: the last moment at most.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from crmclient.outages import Outage
from project.observability.metrics import Metrics, metrics
from runtime.http.request_record import RequestRecord

logger = logging.getLogger("portico.ledger")

MOMENT = 0.1
"""Seconds between the answer to a request and its counting and logging."""

SAMPLE_INTERVAL = 2.0
"""Seconds between two samples of values that change all the time, such as the number of busy threads."""

PAUSE = 60.0
"""Seconds without metrics after a failure to store one. To set metrics up again costs time, too."""

# So many records wait only when writing the log blocks because nobody reads it.
MOST = 50_000

# A function that adds to the metrics.
MetricsUpdate: TypeAlias = Callable[[Metrics], None]
Reader: TypeAlias = Callable[[list[RequestRecord]], None]


class Ledger:
    """The queue of one process, and its thread that writes. `put` may be called by any thread, and costs next
    to nothing.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[RequestRecord | MetricsUpdate] = SimpleQueue()
        # What the writing thread has taken from the queue and not written yet.
        self._taken: list[RequestRecord | MetricsUpdate] = []
        self._readers: list[Reader] = []
        self._samplers: list[MetricsUpdate] = []
        self._lock = threading.Lock()
        self._starts_writer = False
        # The id of the process whose thread writes: a fork has the queue, but not the thread.
        self._writer_pid: int | None = None
        # How many records were dropped since the last writing.
        self._dropped = 0
        # Seconds of `time.monotonic()`: the last samples, and the end of the pause after a failure.
        self._sampled = 0.0
        self._metrics_resume_at = 0.0
        self._outage = Outage(
            logger, "Metrics cannot be kept.", "Metrics are kept again.", level=logging.ERROR
        )

    def put(self, item: RequestRecord | MetricsUpdate) -> None:
        """Queue a request's record, or a function that adds to the metrics. Neither waits nor raises."""
        if self._queue.qsize() >= MOST:
            self._dropped += 1
            return
        self._queue.put(item)
        if self._starts_writer and self._writer_pid != os.getpid():
            self.start()

    def add_reader(self, reader: Reader) -> None:
        """Call `reader` with all records, some at a time, on the thread that takes them."""
        self._readers.append(reader)

    def add_sampler(self, sampler: MetricsUpdate) -> None:
        """Call `sampler` every `SAMPLE_INTERVAL` seconds, to set values that change all the time."""
        self._samplers.append(sampler)

    def keep_from_now_on(self) -> None:
        """Let a thread write the records. It starts with the first record, so that it runs in the worker
        process and not in the parent that forked it.
        """
        self._starts_writer = True

    def start(self) -> None:
        """Start the writing thread in this process, unless it runs here already."""
        with self._lock:
            if self._writer_pid == os.getpid():
                return
            self._writer_pid = os.getpid()
        threading.Thread(target=self._write_forever, name="ledger", daemon=True).start()

    def flush(self, *, is_read: bool = False) -> None:
        """Write everything that is queued now. With `is_read`, take the samples, too, because somebody is
        reading the metrics.
        """
        with self._lock:
            queued, self._taken = self._taken, []
            with suppress(Empty):
                while True:
                    queued.append(self._queue.get_nowait())
            self._write(queued)
            if is_read or time.monotonic() - self._sampled >= SAMPLE_INTERVAL:
                self._sampled = time.monotonic()
                self._apply(self._samplers)

    def _write(self, items: Iterable[RequestRecord | MetricsUpdate]) -> None:
        """Write queued items: records of requests into metrics, the log and traces; updates into metrics."""
        records: list[RequestRecord] = []
        updates: list[MetricsUpdate] = []
        for item in items:
            if isinstance(item, RequestRecord):
                records.append(item)
            else:
                updates.append(item)
        dropped, self._dropped = self._dropped, 0
        if dropped:
            updates.append(lambda figures: figures.dropped.inc(dropped))
        if records:
            updates.append(lambda figures: figures.count(records))
        self._apply(updates)
        if records:
            for reader in self._readers:
                try:
                    reader(records)
                except Exception:
                    logger.exception("requests were not reported")

    def _apply(self, updates: list[MetricsUpdate]) -> None:
        """Apply `updates` to the metrics.

        When the metrics cannot be stored, the service goes on without them.
        """
        if time.monotonic() < self._metrics_resume_at:
            return
        for update in updates:
            try:
                update(metrics())
            except OSError as error:
                self._outage.failed(error)
                self._metrics_resume_at = time.monotonic() + PAUSE
                return
            except Exception:
                logger.exception("something was not counted")
        self._outage.worked()

    def _write_forever(self) -> None:
        """Write records as they come, for as long as the process lives."""
        while True:
            with suppress(Empty):
                item = self._queue.get(timeout=SAMPLE_INTERVAL)
                with self._lock:
                    # A call of `flush` from another thread, as at the end of the process, finds the record
                    # here.
                    self._taken.append(item)
                time.sleep(MOMENT)
            self.flush()


ledger = Ledger()
