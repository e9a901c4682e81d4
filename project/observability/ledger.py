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
"""Seconds: what is answered now is counted and logged so much later."""

SAMPLED = 2.0
"""Seconds between two looks at what only has a value now, such as busy threads."""

PAUSE = 60.0
"""Seconds without metrics after one could not be kept: making them anew costs something, too."""

# Only a log that nobody reads, so that writing to it takes for ever, lets so many wait.
MOST = 50_000

Fact: TypeAlias = Callable[[Metrics], None]
Reader: TypeAlias = Callable[[list[RequestRecord]], None]


class Ledger:
    def __init__(self) -> None:
        self._queue: SimpleQueue[RequestRecord | Fact] = SimpleQueue()
        self._first: list[RequestRecord | Fact] = []
        self._readers: list[Reader] = []
        self._samplers: list[Fact] = []
        self._turn = threading.Lock()
        self._keeps = False
        self._keeper: int | None = None
        self._dropped = 0
        self._sampled = 0.0
        self._again = 0.0
        self._outage = Outage(
            logger, "Metrics cannot be kept.", "Metrics are kept again.", level=logging.ERROR
        )

    def put(self, item: RequestRecord | Fact) -> None:
        """Let a request's record be counted, or what adds to the metrics. Neither waits nor raises."""
        if self._queue.qsize() >= MOST:
            self._dropped += 1
            return
        self._queue.put(item)
        if self._keeps and self._keeper != os.getpid():
            self.start()

    def add_reader(self, reader: Reader) -> None:
        """Call `reader` with all records, some at a time, on the thread that takes them."""
        self._readers.append(reader)

    def add_sampler(self, sampler: Fact) -> None:
        """Call `sampler` again and again, to set what only has a value now."""
        self._samplers.append(sampler)

    def keep_from_now_on(self) -> None:
        """Let a thread take what comes. It starts with the first, so that it lives in the worker."""
        self._keeps = True

    def start(self) -> None:
        """Begin at once, in the process that this is."""
        with self._turn:
            if self._keeper == os.getpid():
                return
            self._keeper = os.getpid()
        threading.Thread(target=self._keep, name="ledger", daemon=True).start()

    def settle(self, *, is_read: bool = False) -> None:
        """Take all that is here, now. `is_read`: what only has a value now is wanted, too."""
        with self._turn:
            taken, self._first = self._first, []
            with suppress(Empty):
                while True:
                    taken.append(self._queue.get_nowait())
            self._take(taken)
            if is_read or time.monotonic() - self._sampled >= SAMPLED:
                self._sampled = time.monotonic()
                self._tell(self._samplers)

    def _take(self, taken: Iterable[RequestRecord | Fact]) -> None:
        records: list[RequestRecord] = []
        facts: list[Fact] = []
        for item in taken:
            if isinstance(item, RequestRecord):
                records.append(item)
            else:
                facts.append(item)
        dropped, self._dropped = self._dropped, 0
        if dropped:
            facts.append(lambda figures: figures.dropped.inc(dropped))
        if records:
            facts.append(lambda figures: figures.count(records))
        self._tell(facts)
        if records:
            for reader in self._readers:
                try:
                    reader(records)
                except Exception:
                    logger.exception("requests were not reported")

    def _tell(self, facts: list[Fact]) -> None:
        """Where the metrics have no room, the service goes on without them."""
        if time.monotonic() < self._again:
            return
        for fact in facts:
            try:
                fact(metrics())
            except OSError as error:
                self._outage.failed(error)
                self._again = time.monotonic() + PAUSE
                return
            except Exception:
                logger.exception("something was not counted")
        self._outage.worked()

    def _keep(self) -> None:
        while True:
            with suppress(Empty):
                first = self._queue.get(timeout=SAMPLED)
                with self._turn:
                    # Who settles meanwhile, as at the end of the process, finds it here.
                    self._first.append(first)
                time.sleep(MOMENT)
            self.settle()


ledger = Ledger()
