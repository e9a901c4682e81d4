"""The published keys of an issuer (RFC 7517), kept at hand.

They are read again every few minutes, and when a token names a key that is not among them: an issuer
changes its keys without notice. But never more often than once a minute, whatever tokens say, in all
processes that share a cache; and while the issuer is away the last keys it gave are good.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from django.core.cache import cache

from crmclient.sentences import for_log
from runtime.callers.issuers.discovery import check_issuer, discover
from runtime.callers.issuers.remote_documents import NotFetched, fetch_json
from runtime.callers.refusals import issuer_unavailable
from runtime.http.seals import seal, unseal

logger = logging.getLogger("portico.issuers")

Key: TypeAlias = "jwt.PyJWK | PublicKeyTypes"

# All in seconds. Keys that are older are read again;
MAX_AGE = 600.0
# but the processes that share a cache read them at most once in this time.
PAUSE = 60.0
# How long the last keys of an issuer that is away are good for processes that start meanwhile.
KEPT = 7 * 24 * 3600
# How often a process looks whether another one has fetched.
LOOK = 2.0
# How long one process waits for another that is fetching the first keys.
PATIENCE = 10.0
# Bytes. A longer key set is not shared: each process fetches it.
LONGEST_CACHED = 256 * 1024

_PURPOSE = b"portico.issuers"
_PREFIX = "portico:issuers:"
_FETCHING, _FETCHED = "fetching", "fetched"


class _Keys(NamedTuple):
    """The keys of an issuer, by their `kid`. `document` is the key set that was read at `read_at` (Unix
    seconds).
    """

    document: Any
    read_at: float
    by_kid: Mapping[str, Key]


class KeySet:
    """The keys of an issuer, by their `kid`. Safe to share between threads.

    `address` is that of the key set or, with the name of the `issuer`, of its OpenID configuration.
    """

    def __init__(self, address: str, issuer: str = "", *, allow_private: bool = False) -> None:
        self.address = address
        self._issuer = issuer
        self._allow_private = allow_private
        self._keys: _Keys | None = None
        # Seconds of `time.monotonic()`: when this process last looked for keys, and when it last fetched
        # them.
        self._looked_at: float | None = None
        self._fetched_at: float | None = None
        self._lock = threading.Lock()
        # In the cache: the keys that processes share, and whose turn it is to fetch them.
        digest = hashlib.sha256(orjson.dumps([address, issuer])).hexdigest()
        self._shared_key = f"{_PREFIX}keys:{digest}"
        self._turn_key = f"{_PREFIX}turn:{digest}"

    def key(self, kid: str) -> Key | None:
        """Return the key named `kid`; None when the issuer has no such key.

        Raises Problem 503 when the issuer's keys have never been read.
        """
        keys = self._keys
        if keys is None or kid not in keys.by_kid or _is_old(keys):
            self._refresh(kid, waiting=keys is None or kid not in keys.by_kid)
            keys = self._keys
        if keys is None:
            raise issuer_unavailable(int(PAUSE))
        return keys.by_kid.get(kid)

    @property
    def kids(self) -> list[str]:
        """The names of the keys that are known now."""
        return sorted(self._keys.by_kid) if self._keys is not None else []

    def forget(self) -> None:
        """Forget the keys, so that the next token fetches them anew."""
        self._keys = self._looked_at = self._fetched_at = None
        cache.delete_many([self._shared_key, self._turn_key])

    def _refresh(self, kid: str, *, waiting: bool) -> None:
        """Take over or fetch the keys, unless that was tried a moment ago. One thread does it.

        `kid` is the key that a token names. With `waiting`, other threads wait until it is done; without,
        they go on with the keys that are known.
        """
        if not self._may_look() or not self._lock.acquire(blocking=waiting):
            return
        try:
            if not self._may_look():
                return
            self._take_shared()
            if self._keys is not None and kid in self._keys.by_kid and not _is_old(self._keys):
                return
            if self._take_turn():
                self._fetch()
            elif self._keys is None:
                self._wait_for_others()
            # Noted at the end: until then those who need the keys wait for this attempt.
            self._looked_at = time.monotonic()
        finally:
            self._lock.release()

    def _may_look(self) -> bool:
        """Whether the last look for keys is long enough ago for another one."""
        return _is_past(self._looked_at, min(LOOK, PAUSE))

    def _take_turn(self) -> bool:
        """Take the turn to fetch, for a minute. Return False while another process has it, or this one has
        just fetched. The cache decides for all processes that share it.
        """
        if not _is_past(self._fetched_at, PAUSE):
            return False
        try:
            return PAUSE <= 0 or bool(cache.add(self._turn_key, _FETCHING, PAUSE))
        except Exception as error:
            # The cache's client raises errors of its own. Each process then goes by itself.
            logger.warning("keys of issuers are fetched per process: %s", for_log(error))
            return True

    def _fetch(self) -> None:
        """Fetch the keys, and share them with other processes. If they cannot be read, the known
        keys stay.
        """
        try:
            document = self._fetched_document()
            fetched_keys = _Keys(document, time.time(), public_keys(document))
        except (NotFetched, ValueError, jwt.PyJWTError) as error:
            logger.warning("keys of an issuer cannot be read from %s: %s", self.address, for_log(error))
        else:
            self._keys = fetched_keys
            self._share(fetched_keys)
        self._fetched_at = time.monotonic()
        if PAUSE > 0:
            self._try_cache(cache.set, self._turn_key, _FETCHED, PAUSE)

    def _fetched_document(self) -> Any:
        """Return the key set from its address, or from the address in the issuer's OpenID configuration.
        Raises NotFetched.
        """
        address = self.address
        if self._issuer:
            document = discover(address, allow_private=self._allow_private)
            check_issuer(document, self._issuer, address)
            address = document.keys_url
        return fetch_json(address, allow_private=self._allow_private)

    def _share(self, keys: _Keys) -> None:
        """Store the keys in the cache, sealed.

        Without the seal, whoever can write into the cache could give the issuer another key.
        """
        content = orjson.dumps({"document": keys.document, "read_at": keys.read_at})
        if len(content) <= LONGEST_CACHED:
            self._try_cache(
                cache.set, self._shared_key, seal(content, _PURPOSE, self._shared_key.encode()), KEPT
            )

    def _take_shared(self) -> None:
        """Take over the keys from the cache if another process has read them later than this one."""
        sealed = self._try_cache(cache.get, self._shared_key)
        content = unseal(sealed, _PURPOSE, self._shared_key.encode()) if isinstance(sealed, bytes) else None
        if content is None:
            return
        shared = orjson.loads(content)
        if self._keys is None or shared["read_at"] > self._keys.read_at:
            self._keys = _Keys(shared["document"], shared["read_at"], public_keys(shared["document"]))

    def _wait_for_others(self) -> None:
        """Wait until another process that fetches the keys has shared them."""
        until = time.monotonic() + PATIENCE
        while self._keys is None and time.monotonic() < until:
            # Asked before the keys: a process that ends in between has shared them by then.
            is_under_way = self._try_cache(cache.get, self._turn_key) == _FETCHING
            self._take_shared()
            if not is_under_way:
                return
            time.sleep(0.1)

    def _try_cache(self, cache_method: Any, *args: Any) -> Any:
        """Return the result of a method of the cache; None if the cache does not answer."""
        try:
            return cache_method(*args)
        except Exception as error:
            # The cache's client raises errors of its own. Without the cache, each process keeps its own keys.
            logger.warning("keys of issuers are remembered per process: %s", for_log(error))
            return None


def _is_past(moment: float | None, pause: float) -> bool:
    """Whether `pause` seconds have passed since `moment` (of `time.monotonic()`). None stands for never."""
    return moment is None or time.monotonic() - moment >= pause


def _is_old(keys: _Keys) -> bool:
    return time.time() - keys.read_at > MAX_AGE


def public_keys(document: object) -> Mapping[str, Key]:
    """Return the keys for signatures in a key set, by `kid`. Shared secrets are left out, and so are keys
    that are not described as the standard says, or are of a kind that is not known here.

    A key that names its algorithm verifies that one alone. For one that does not, the issuer's settings say
    which count. Raises PyJWTError when no key is left.
    """
    entries = document.get("keys") if isinstance(document, dict) else None
    usable = [*_usable_keys(entries if isinstance(entries, list) else ())]
    if not usable:
        raise jwt.PyJWKSetError("The key set has no key that can be used.")
    return {
        # PyJWT takes a key without a name of an algorithm as one for RS256, for example, and for nothing
        # else. The key itself is one for each algorithm of its type.
        key.key_id: key if names_algorithm else key.key
        for key, names_algorithm in usable
        if key.key_id is not None and key.public_key_use in {None, "sig"}
    }


def _usable_keys(entries: Iterable[object]) -> Iterator[tuple[jwt.PyJWK, bool]]:
    """Yield the keys that can be read, and whether each names its algorithm."""
    for entry in entries:
        if isinstance(entry, dict) and _is_public(entry):
            # The second: a key for signatures by no algorithm at all.
            with suppress(jwt.PyJWTError, NotImplementedError):
                yield jwt.PyJWK(entry), bool(entry.get("alg"))


def _is_public(key: Mapping[str, Any]) -> bool:
    """Whether a key may be that of a signature that others verify."""
    # PyJWT raises no error of its own where one of these is no text.
    return key.get("kty") != "oct" and all(
        isinstance(key.get(name, ""), str) for name in ("kid", "use", "alg")
    )


# By the arguments of `key_set`.
_key_sets: dict[tuple[str, str, bool], KeySet] = {}


def key_set(address: str, issuer: str = "", allow_private: bool = False) -> KeySet:
    """Return the key set of an address. There is one for each address, and it outlives revisions of the
    configuration.
    """
    arguments = (address, issuer, allow_private)
    keys = _key_sets.get(arguments)
    if keys is None:
        # Of two threads that come at once, `setdefault` gives both the same key set.
        keys = _key_sets.setdefault(arguments, KeySet(address, issuer, allow_private=allow_private))
    return keys


def forget() -> None:
    """Forget the keys of all issuers, so that they are fetched anew."""
    while _key_sets:
        _key_sets.popitem()[1].forget()
