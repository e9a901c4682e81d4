"""Rate limits' counters in this process.

The library's own in-memory storage starts a thread every ten milliseconds to expire its windows; under load
that costs a create a seventh of its time. These expire when they are next looked at.
"""

from __future__ import annotations

import threading
import time

from limits.storage import Storage

_SWEEP_AT = 10_000


class WindowStorage(Storage):
    """Fixed windows: a count and the second it ends, by key. Shared between threads."""

    STORAGE_SCHEME = ["windows"]

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, float]] = {}
        self._sweep_at = _SWEEP_AT

    @property
    def base_exceptions(self) -> type[Exception]:
        return RuntimeError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        now = time.time()
        with self._lock:
            count, ends = self._windows.get(key, (0, 0.0))
            if now >= ends:
                count, ends = 0, now + expiry
                self._sweep(now)
            self._windows[key] = (count + amount, ends)
        return count + amount

    def get(self, key: str) -> int:
        count, ends = self._windows.get(key, (0, 0.0))
        return count if time.time() < ends else 0

    def get_expiry(self, key: str) -> float:
        return self._windows.get(key, (0, time.time()))[1]

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        with self._lock:
            count = len(self._windows)
            self._windows.clear()
        return count

    def clear(self, key: str) -> None:
        with self._lock:
            self._windows.pop(key, None)

    def _sweep(self, now: float) -> None:
        """Forgets windows that are over, once there are many: addresses come and go."""
        if len(self._windows) < self._sweep_at:
            return
        self._windows = {key: window for key, window in self._windows.items() if now < window[1]}
        self._sweep_at = max(_SWEEP_AT, 2 * len(self._windows))
