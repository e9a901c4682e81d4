"""A bounded cache of values that are only kept for some seconds, a minute unless said otherwise."""

from __future__ import annotations

import threading
import time
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

# How long a change of an account, a role or a platform user may go unnoticed. The HTTP contract's limit.
LIFETIME = 60.0


class RecentCache(Generic[K, V]):
    """Keeps at most `size` values, each for `seconds`. Safe to share between threads; reading takes no lock.

    When it is full the oldest entry goes: with one lifetime for all, that is the one that would go next
    anyway.
    """

    def __init__(self, *, size: int, seconds: float = LIFETIME) -> None:
        self._size = size
        self._seconds = seconds
        # The `time.monotonic()` second until which a value is kept, and the value.
        self._entries: dict[K, tuple[float, V]] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value; None when it is missing or too old."""
        entry = self._entries.get(key)
        if entry is None or time.monotonic() >= entry[0]:
            return None
        return entry[1]

    def put(self, key: K, value: V) -> None:
        """Keep a value. Its time begins anew, and the oldest values go while the cache is full."""
        with self._lock:
            entries = self._entries
            entries.pop(key, None)
            while len(entries) >= self._size:
                del entries[next(iter(entries))]
            entries[key] = (time.monotonic() + self._seconds, value)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
