"""Limits how often cached answers ask the platform, and how many threads wait for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from django.conf import settings

# After the platform was away, answers past their time are served for so many seconds without asking it: the
# usual pause, and the longest one that the platform itself can ask for.
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class Waiting:
    """Limits the requests that wait for an answer which another request reads, to leave threads for the
    others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Yield whether the request may wait: at least one thread stays free for others."""
        with self._lock:
            has_place = self._count < max(1, int(settings.PORTICO["THREADS"]) - 1)
            self._count += has_place
        try:
            yield has_place
        finally:
            with self._lock:
                self._count -= has_place


class Pause:
    """A time in which the platform is not asked for answers that can be served past their time."""

    def __init__(self) -> None:
        # A second of `time.monotonic()`.
        self._until = 0.0

    @property
    def is_on(self) -> bool:
        """Whether the platform is left alone at this moment."""
        return time.monotonic() < self._until

    def begin(self, error: BaseException) -> None:
        """Begin a pause, as long as the error says (`retry_after`, in seconds). A pause that lasts longer
        stays.
        """
        after = getattr(error, "retry_after", None)
        seconds = _PAUSE if after is None else min(max(_PAUSE, float(after)), _LONGEST_PAUSE)
        self._until = max(self._until, time.monotonic() + seconds)


class Refreshing:
    """The keys of answers that are being refreshed, at most `most` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._keys: set[Hashable] = set()

    def begin(self, key: Hashable) -> bool:
        """Note that the answer of `key` is being refreshed. Return False, and note nothing, if it is being
        refreshed already, or if too many others are.
        """
        with self._lock:
            if key in self._keys or len(self._keys) >= self._most:
                return False
            self._keys.add(key)
            return True

    def end(self, key: Hashable) -> None:
        """Note that the answer of `key` is not being refreshed any more."""
        with self._lock:
            self._keys.discard(key)
