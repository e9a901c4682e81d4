"""What the platform said of callers less than a minute ago: in this process and, with `CACHE_URL`, in Redis.

Redis holds it for all processes, sealed and for the rest of its minute: nobody who can read or write there
learns of a user, or becomes another. While Redis is away each process remembers alone.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import redis
from django.conf import settings

from runtime.callers.portable_values import Unportable, from_bytes, to_bytes
from runtime.callers.recent_cache import LIFETIME, RecentCache
from runtime.http.seals import seal, unseal
from runtime.shared_redis import SharedRedis

logger = logging.getLogger("portico.callers")

V = TypeVar("V")

_PURPOSE = b"portico.callers"
_PREFIX = "portico:callers:"
# Bytes. Only the process that read a larger value keeps it.
_LARGEST = 64 * 1024
# Seconds that a thread waits for another one which reads the same value. Then it reads for itself.
_PATIENCE = 5.0


class CachedValue(NamedTuple, Generic[V]):
    """A value, and until when (of time.monotonic) it may be used."""

    value: V
    until: float


class MinuteCache(Generic[V]):
    """Caches at most `size` values, each for a minute. Threads that want the same value wait for one reading.

    `pack` turns a value into plain types, and `unpack` turns these into the value. `name` keeps caches apart.
    """

    def __init__(
        self, name: str, *, pack: Callable[[V], Any], unpack: Callable[[Any], V], size: int = 10_000
    ) -> None:
        self._name = name
        self._pack, self._unpack = pack, unpack
        self._local: RecentCache[str, CachedValue[V]] = RecentCache(size=size)
        self._reading: dict[str, threading.Lock] = {}
        self._reading_lock = threading.Lock()

    def get(self, key: tuple[str, ...], read: Callable[[], V], *, until: float = math.inf) -> CachedValue[V]:
        """Return the value of `key`: a cached one, or what `read` returns. Raises what `read` raises.

        A value that is read now is kept for a minute, but not longer than `until` (a `time.monotonic()`
        second).
        """
        digest = _digest(self._name, key)
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
        return entry if entry is not None and time.monotonic() < entry.until else None

    def _shared_entry(self, digest: str) -> CachedValue[V] | None:
        """Return the value that another process has stored, and keep it here, too."""
        entry = _redis().get(digest)
        if entry is None:
            return None
        content, seconds = entry
        shared_entry = CachedValue(self._unpack(from_bytes(content)), time.monotonic() + seconds)
        self._local.put(digest, shared_entry)
        return shared_entry

    def _read_and_keep(self, digest: str, read: Callable[[], V], until: float) -> CachedValue[V]:
        """Read the value, and keep it for this and other processes."""
        # The minute begins before the platform is asked: what it says may be as old as that.
        began = time.monotonic()
        entry = CachedValue(read(), min(began + LIFETIME, until))
        self._local.put(digest, entry)
        try:
            content = to_bytes(self._pack(entry.value))
        except Unportable:
            return entry
        _redis().put(digest, content, entry.until - time.monotonic())
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
        return None if content is None else (content, min(milliseconds / 1000, LIFETIME))

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


def _digest(name: str, key: tuple[str, ...]) -> str:
    # Lengths keep ("a", "bc") apart from ("ab", "c").
    text = "".join(f"{len(part)}:{part}" for part in (name, *key))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
