"""What the platform said of callers less than a minute ago: in this process and, with `CACHE_URL`, in Redis.
While the platform is away, what it said last counts for a quarter of an hour more.

Redis holds it for all processes, sealed: nobody who can read or write there learns of a user, or becomes
another. While Redis is away each process remembers alone.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import redis
from django.conf import settings

from crmclient.errors import PlatformFailure
from runtime.callers.portable_values import Unportable, from_bytes, to_bytes
from runtime.callers.recent_cache import LIFETIME, RecentCache
from runtime.digests import digest_of
from runtime.http.seals import seal, unseal
from runtime.shared_redis import SharedRedis

logger = logging.getLogger("portico.callers")

V = TypeVar("V")

_PURPOSE = b"portico.callers"
# Not that of releases up to 0.2, which would take all of an entry's time for its minute.
_PREFIX = "portico:known-callers:"
# Bytes. Only the process that read a larger value keeps it.
_LARGEST = 64 * 1024
# Seconds after its minute for which a value counts while the platform is away.
_AWAY = 15 * 60.0
# Seconds that a thread waits for another one which reads the same value. Then it reads for itself.
_PATIENCE = 5.0


class CachedValue(NamedTuple, Generic[V]):
    """A value, and until when (of time.monotonic) it may be used."""

    value: V
    until: float


class _KeptValue(NamedTuple, Generic[V]):
    """A value as it is kept: until when (of time.monotonic) it may be used, and until when while the platform
    is away.
    """

    value: V
    until: float
    until_away: float


class MinuteCache(Generic[V]):
    """Caches at most `size` values, each for a minute. Threads that want the same value wait for one reading.

    `pack` turns a value into plain types, and `unpack` turns these into the value. `name` keeps caches apart.
    `when_old` makes of a value what still counts of it after its minute, while the platform is away.
    """

    def __init__(
        self,
        name: str,
        *,
        pack: Callable[[V], Any],
        unpack: Callable[[Any], V],
        when_old: Callable[[V], V] = lambda value: value,
        size: int = 10_000,
    ) -> None:
        self._name = name
        self._pack, self._unpack, self._when_old = pack, unpack, when_old
        self._local: RecentCache[str, _KeptValue[V]] = RecentCache(size=size, seconds=LIFETIME + _AWAY)
        self._reading: dict[str, threading.Lock] = {}
        self._reading_lock = threading.Lock()

    def get(
        self,
        key: tuple[str, ...],
        read: Callable[[], V],
        *,
        until: float = math.inf,
        old_counts: bool = True,
    ) -> CachedValue[V]:
        """Return the value of `key`: a cached one, or what `read` returns. Raises what `read` raises.

        A value that is read now is kept for a minute, but not longer than `until` (a `time.monotonic()`
        second). With `old_counts`, the last known value counts where `read` raises a PlatformFailure, and for
        the next minute nobody asks again.
        """
        digest = digest_of((self._name, *key))
        try:
            return self._cached_or_read(digest, read, until)
        except PlatformFailure:
            last = self.last_known(key) if old_counts else None
            if last is None:
                raise
            # Another thread may have been answered meanwhile.
            entry = self._local_entry(digest)
            if entry is not None:
                return entry
            # What `last_known` returns may be used for as long as the platform is away.
            until_away = last.until
            old = _KeptValue(last.value, min(time.monotonic() + LIFETIME, until_away), until_away)
            self._local.put(digest, old)
            return CachedValue(old.value, old.until)

    def last_known(self, key: tuple[str, ...]) -> CachedValue[V] | None:
        """Return what still counts of the value of `key` while the platform is away; None where this process
        does not know it, or it is too old.
        """
        entry = self._local.get(digest_of((self._name, *key)))
        if entry is None or time.monotonic() >= entry.until_away:
            return None
        return CachedValue(self._when_old(entry.value), entry.until_away)

    def _cached_or_read(self, digest: str, read: Callable[[], V], until: float) -> CachedValue[V]:
        """Return the value that is cached, or what `read` returns."""
        entry = self._local_entry(digest)
        if entry is not None:
            return entry
        with self._reading_lock:
            turn = self._reading.setdefault(digest, threading.Lock())
        has_turn = turn.acquire(timeout=_PATIENCE)
        try:
            entry = self._local_entry(digest) or self._shared_entry(digest)
            return entry if entry is not None else self._read_and_keep(digest, read, until)
        finally:
            if has_turn:
                turn.release()
            # Threads that wait hold the lock object itself. A later thread finds the value or, if reading
            # failed, makes a lock of its own.
            with self._reading_lock:
                self._reading.pop(digest, None)

    def clear(self) -> None:
        self._local.clear()
        _redis().clear()

    def _local_entry(self, digest: str) -> CachedValue[V] | None:
        """Return the value that this process keeps; None when it has none, or its minute is over."""
        entry = self._local.get(digest)
        if entry is None or time.monotonic() >= entry.until:
            return None
        return CachedValue(entry.value, entry.until)

    def _shared_entry(self, digest: str) -> CachedValue[V] | None:
        """Return the value that another process has stored; None where its minute is over. Keep it here, too:
        the platform may be away.
        """
        entry = _redis().get(digest)
        if entry is None:
            return None
        content, seconds = entry
        now = time.monotonic()
        # Redis keeps a value for its minute and for `_AWAY` after that.
        value = self._unpack(from_bytes(content))
        kept = _KeptValue(value, now + min(seconds - _AWAY, LIFETIME), now + min(seconds, LIFETIME + _AWAY))
        local_entry = self._local.get(digest)
        if local_entry is None or local_entry.until_away < kept.until_away:
            self._local.put(digest, kept)
        return CachedValue(value, kept.until) if now < kept.until else None

    def _read_and_keep(self, digest: str, read: Callable[[], V], until: float) -> CachedValue[V]:
        """Read the value, and keep it for this and other processes."""
        # The minute begins before the platform is asked: what it says may be as old as that.
        began = time.monotonic()
        kept = _KeptValue(read(), min(began + LIFETIME, until), min(began + LIFETIME, until) + _AWAY)
        self._local.put(digest, kept)
        entry = CachedValue(kept.value, kept.until)
        try:
            content = to_bytes(self._pack(entry.value))
        except Unportable:
            return entry
        _redis().put(digest, content, kept.until_away - time.monotonic())
        return entry


class _Redis:
    """The store that processes share; without a `url` there is none."""

    def __init__(self, url: str) -> None:
        self._redis = SharedRedis(
            url,
            logger,
            "callers are remembered per process: the shared store does not answer",
            "callers are remembered in the shared store again",
        )

    def get(self, digest: str) -> tuple[bytes, float] | None:
        """Return the content, and the seconds for which it may still be kept; None when there is none."""

        def ask(client: redis.Redis) -> Any:
            """Ask for the value and for how many milliseconds it is still kept, at once."""
            pipeline = client.pipeline(transaction=False)
            pipeline.get(_PREFIX + digest)
            pipeline.pttl(_PREFIX + digest)
            return pipeline.execute()

        sealed, milliseconds = self._redis.ask(ask) or (None, 0)
        if sealed is None or milliseconds <= 0:
            return None
        content = unseal(sealed, _PURPOSE, digest.encode())
        return None if content is None else (content, milliseconds / 1000)

    def put(self, digest: str, content: bytes, seconds: float) -> None:
        """Store a value, sealed, for some seconds. A value that is too long is not stored."""
        milliseconds = int(seconds * 1000)
        if milliseconds > 0 and len(content) <= _LARGEST:
            sealed = seal(content, _PURPOSE, digest.encode())
            self._redis.ask(lambda client: client.set(_PREFIX + digest, sealed, px=milliseconds))

    def clear(self) -> None:
        self._redis.forget(_PREFIX)


def _redis() -> _Redis:
    """Return the store of the present settings."""
    return _redis_at(settings.PORTICO["CACHE_URL"])


@cache
def _redis_at(url: str) -> _Redis:
    return _Redis(url)
