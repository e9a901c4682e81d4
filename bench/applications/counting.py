"""Counts requests per caller or address in windows of a minute, in this process."""

from __future__ import annotations

import time
from collections import defaultdict
from threading import Lock

from bench.applications.surroundings import RATE_A_MINUTE


class Counter:
    def __init__(self) -> None:
        self._lock = Lock()
        self._minute = 0
        self._counts: defaultdict[str, int] = defaultdict(int)

    def allows(self, who: str) -> bool:
        """Count one request of `who`; false when the minute's share is used up."""
        minute = int(time.time() // 60)
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            self._counts[who] += 1
            return self._counts[who] <= RATE_A_MINUTE
