"""The answers that this process keeps, bounded by bytes and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from typing import NamedTuple

from cachetools import TLRUCache

from runtime.caching.entries import Entry


class _StoredEntry(NamedTuple):
    """An entry, and the second until which it may be kept."""

    entry: Entry
    # A second of `time.monotonic()`.
    until: float


class LocalStore:
    """Keeps answers in this process, at most `most` bytes. The least recently used ones go first.

    Safe to share between threads.
    """

    def __init__(self, most: int) -> None:
        # Bytes of the largest answer that is kept: one answer must not crowd out all others.
        self.largest = most // 8
        self._lock = threading.Lock()
        self._held: TLRUCache[Hashable, _StoredEntry] = TLRUCache(
            maxsize=most,
            ttu=lambda key, stored, now: stored.until,
            # Looked up at each call, so that tests can replace the clock.
            timer=lambda: time.monotonic(),
            getsizeof=lambda stored: stored.entry.size,
        )

    def get(self, key: Hashable) -> Entry | None:
        """Return the answer; None when it is not kept, or not any more."""
        with self._lock:
            held_entry: _StoredEntry | None = self._held.get(key)
        return None if held_entry is None else held_entry.entry

    def put(self, key: Hashable, entry: Entry, seconds: float) -> bool:
        """Keep an answer for `seconds`. Return False when it is too large to be kept."""
        if entry.size > self.largest:
            return False
        with self._lock:
            self._held[key] = _StoredEntry(entry, time.monotonic() + seconds)
        return True

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
