"""The answers that processes share, in Redis where `CACHE_URL` is set.

Redis holds bytes that are of use under their own key alone, and to nobody without SECRET_KEY: encrypted or,
with `CACHE_ENCRYPT=0`, signed. Nothing in them is ever executed. While Redis is away each process keeps its
own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import NamedTuple

from redis.exceptions import LockError

from runtime.caching.entries import Entry
from runtime.http.seals import checked, seal, signed, unseal
from runtime.shared_redis import SharedRedis

logger = logging.getLogger("portico.caching")

_PURPOSE = b"portico.answers"
_PREFIX = "portico:answers:"
_LOCK = "portico:answering:"
# Bytes. A larger answer is kept only by the process that asked for it; a larger file is not kept at all.
LARGEST = 4 * 1024 * 1024
# Seconds between two looks for an answer that another process is asking for.
_LOOK_AGAIN = 0.03


class Turn(NamedTuple):
    """The outcome of waiting for a turn.

    `is_ours`: this request is to ask the platform. `entry` is the answer that another process has stored
    meanwhile; None without one.
    """

    is_ours: bool
    entry: Entry | None = None


class SharedStore:
    """Answers that all processes share, by key, and the turns to ask for one.

    Without a `url`, every request has its turn at once.
    """

    def __init__(self, url: str, *, encrypts: bool) -> None:
        self._encrypts = encrypts
        self._redis = SharedRedis(
            url,
            logger,
            "cached answers are kept per process: the shared store does not answer",
            "cached answers are kept in the shared store again",
        )

    def get(self, key: str) -> Entry | None:
        """Return the answer; None when it is not stored, and for bytes that this service did not seal for the
        key.
        """
        packed = self._redis.ask(lambda client: client.get(_PREFIX + key))
        if not isinstance(packed, bytes):
            return None
        unpack = unseal if self._encrypts else checked
        content = unpack(packed, _PURPOSE, key.encode())
        return None if content is None else Entry.unpacked(content, LARGEST)

    def put(self, key: str, entry: Entry, seconds: float) -> None:
        """Store an answer for some seconds, unless it is too large or Redis is away."""
        milliseconds = int(seconds * 1000)
        if not self._redis.is_there or milliseconds <= 0 or entry.size > LARGEST:
            return
        protect = seal if self._encrypts else signed
        content = protect(entry.packed(), _PURPOSE, key.encode())
        self._redis.ask(lambda client: client.set(_PREFIX + key, content, px=milliseconds))

    @contextmanager
    def turn(self, key: str, *, holding: float, patience: float) -> Iterator[Turn]:
        """Wait until it is this request's turn to ask, or until an answer is stored.

        Wait `patience` seconds at most. A turn ends after `holding` seconds, even if its holder has died.
        While Redis is away, every request has a turn: asking twice is better than not asking.
        """
        if not self._redis.is_there:
            yield Turn(True)
            return
        lock = self._redis.client.lock(_LOCK + key, timeout=holding)
        gives_up = time.monotonic() + patience
        entry: Entry | None = None
        has_lock = bool(self._redis.ask(lambda _: lock.acquire(blocking=False)))
        while not has_lock and self._redis.is_there and time.monotonic() < gives_up:
            time.sleep(_LOOK_AGAIN)
            entry = self.get(key)
            if entry is not None:
                break
            has_lock = bool(self._redis.ask(lambda _: lock.acquire(blocking=False)))
        try:
            yield Turn(has_lock or not self._redis.is_there, entry)
        finally:
            if has_lock:
                # Its time may have been over before the platform answered.
                with suppress(LockError):
                    self._redis.ask(lambda _: lock.release())

    def clear(self) -> None:
        """Remove all answers."""
        self._redis.forget(_PREFIX)


@cache
def shared_store(url: str, encrypts: bool) -> SharedStore:
    """Return the store that all endpoints share."""
    return SharedStore(url, encrypts=encrypts)
