"""The answers that this process keeps, bounded by bytes and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from typing import NamedTuple

from cachetools import TLRUCache

from runtime.caching.entries import Entry


class _Held(NamedTuple):
    entry: Entry
    # Of time.monotonic().
    until: float


class LocalStore:
    """At most `most` bytes; the least recently used answers go first. Shared between threads."""

    def __init__(self, most: int) -> None:
        # One answer must not crowd out all others.
        self.largest = most // 8
        self._lock = threading.Lock()
        self._held: TLRUCache[Hashable, _Held] = TLRUCache(
            maxsize=most,
            ttu=lambda key, held, now: held.until,
            timer=lambda: time.monotonic(),
            getsizeof=lambda held: held.entry.size,
        )

    def get(self, key: Hashable) -> Entry | None:
        with self._lock:
            held: _Held | None = self._held.get(key)
        return None if held is None else held.entry

    def put(self, key: Hashable, entry: Entry, seconds: float) -> bool:
        """Keep an answer for `seconds`; whether it was not too large."""
        if entry.size > self.largest:
            return False
        with self._lock:
            self._held[key] = _Held(entry, time.monotonic() + seconds)
        return True

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
