"""The answers of one endpoint that are kept, in this process and for all processes, and for how long."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from functools import cache

from django.conf import settings

from runtime.caching.answer_keys import Key
from runtime.caching.entries import Entry
from runtime.caching.local_store import LocalStore
from runtime.caching.shared_store import SharedStore, Turn, shared_store
from runtime.digests import digest_of

# Seconds that the clocks of two machines may differ by.
_SKEW = 5.0
_MEGABYTE = 1024 * 1024


class EntryStore:
    """Keeps the answers of one endpoint.

    They are fresh for `seconds`, and may be served for `stale_seconds` more while the platform cannot be
    asked.
    """

    def __init__(self, seconds: int, stale_seconds: int) -> None:
        self._seconds = seconds
        self._stale_seconds = stale_seconds

    def seconds_left(self, entry: Entry | None) -> float:
        """Return for how many seconds an answer is still fresh; 0 or less when it is not."""
        if entry is None:
            return 0.0
        seconds_left = entry.made + self._seconds - time.time()
        # An entry from the future was made by a clock that has been put right since.
        return seconds_left if seconds_left <= self._seconds + _SKEW else 0.0

    def if_fresh(self, entry: Entry | None) -> Entry | None:
        """Return the entry if it is still fresh, else None."""
        return entry if self.seconds_left(entry) > 0 else None

    def may_be_late(self, entry: Entry) -> bool:
        """Whether an answer may still be served past its time, while the platform cannot be asked."""
        return time.time() < entry.made + self._seconds + self._stale_seconds

    def take_from_shared_store(self, key: Key) -> Entry | None:
        """Return the entry that another process has stored, and keep it in this process, too. It may be
        stale.
        """
        entry = _shared_store().get(digest_of(key))
        if entry is not None:
            self.keep(key, entry)
        return entry

    def put(self, key: Key, entry: Entry) -> bool:
        """Store an answer for all processes and for this one. Return whether this process has kept it."""
        _shared_store().put(digest_of(key), entry, self._kept_for(entry))
        return self.keep(key, entry)

    def keep(self, key: Key, entry: Entry) -> bool:
        """Keep an answer in this process. Return False when it is too old or too large."""
        seconds = self._kept_for(entry)
        return seconds > 0 and local_store().put(key, entry, seconds)

    def turn(self, key: Key, *, holding: float, patience: float) -> AbstractContextManager[Turn]:
        """Wait for this process's turn to ask the platform, as `SharedStore.turn` does."""
        return _shared_store().turn(digest_of(key), holding=holding, patience=patience)

    def _kept_for(self, entry: Entry) -> float:
        """Return for how many seconds an answer may still be kept, served past its time included."""
        return entry.made + self._seconds + self._stale_seconds - time.time()


def local_store() -> LocalStore:
    """Return the store of this process, which all endpoints share."""
    return _store_of(settings.PORTICO["ANSWER_CACHE_MEGABYTES"])


def forget() -> None:
    """Remove all cached answers, those of this process and the shared ones."""
    local_store().clear()
    _shared_store().clear()


@cache
def _store_of(megabytes: int) -> LocalStore:
    return LocalStore(megabytes * _MEGABYTE)


def _shared_store() -> SharedStore:
    """Return the store of all processes."""
    return shared_store(settings.PORTICO["CACHE_URL"], settings.PORTICO["CACHE_ENCRYPT"])
