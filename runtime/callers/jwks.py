"""The published keys of an issuer (RFC 7517), kept at hand.

They are read again every few minutes, and when a token names a key that is not among them: an issuer
changes its keys without notice. But never more often than once a minute, whatever tokens say; and while the
issuer is down the last keys it gave are good.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

import jwt
import orjson
import requests

from crmclient.sentences import for_log
from runtime.callers.outbound import is_public
from runtime.callers.refusals import issuer_unavailable

logger = logging.getLogger("portico.issuers")

MAX_AGE = 600.0
PAUSE = 60.0
TIMEOUT = (3.05, 5.0)
LARGEST = 512 * 1024
LONGEST = 10.0


class KeySet:
    """The keys at `url`, by their `kid`. Safe to share between threads."""

    def __init__(self, url: str, *, allow_private_addresses: bool = False) -> None:
        self._url = url
        self._allow_private = allow_private_addresses
        self._keys: Mapping[str, jwt.PyJWK] | None = None
        self._read_at = 0.0
        self._tried_at: float | None = None
        self._lock = threading.Lock()

    def key(self, kid: str) -> jwt.PyJWK | None:
        """The key named `kid`, None when there is none. Raises Problem 503 when the issuer never answered."""
        keys = self._keys
        if keys is None or kid not in keys or self._is_old():
            self._refresh(waiting=keys is None or kid not in keys)
            keys = self._keys
        if keys is None:
            raise issuer_unavailable(int(PAUSE))
        return keys.get(kid)

    def _is_old(self) -> bool:
        return time.monotonic() - self._read_at > MAX_AGE

    def _refresh(self, *, waiting: bool) -> None:
        """Fetch, unless that was tried a moment ago. One thread fetches; others wait only if they must."""
        if not self._may_fetch() or not self._lock.acquire(blocking=waiting):
            return
        try:
            if self._may_fetch():
                self._fetch()
        finally:
            self._lock.release()

    def _fetch(self) -> None:
        try:
            self._keys = _read_keys(self._url, allow_private=self._allow_private)
            self._read_at = time.monotonic()
        except (OSError, ValueError, jwt.PyJWTError) as error:
            logger.warning("keys of an issuer cannot be read from %s: %s", self._url, for_log(error))
        finally:
            # Noted at the end: until then those who need the keys wait for this attempt.
            self._tried_at = time.monotonic()

    def _may_fetch(self) -> bool:
        return self._tried_at is None or time.monotonic() - self._tried_at >= PAUSE


def _read_keys(url: str, *, allow_private: bool) -> Mapping[str, jwt.PyJWK]:
    """Raises OSError (requests' errors are), ValueError or PyJWTError."""
    if not allow_private and not is_public(url):
        raise ValueError("the address is in a private network; `allow_private_addresses` would allow it")
    with requests.get(url, timeout=TIMEOUT, allow_redirects=False, stream=True) as response:
        if response.status_code != requests.codes.ok:
            raise ValueError(f"status {response.status_code}")
        started = time.monotonic()
        text = b""
        for block in response.iter_content(64 * 1024):
            text += block
            if len(text) > LARGEST or time.monotonic() - started > LONGEST:
                raise ValueError(f"more than {LARGEST} bytes or {LONGEST} seconds")
    return _public_keys(orjson.loads(text))


def _public_keys(document: object) -> Mapping[str, jwt.PyJWK]:
    """The signature keys of a key set. Shared secrets have no place in one and are left out."""
    listed = document.get("keys") if isinstance(document, dict) else None
    public = [key for key in listed or () if isinstance(key, dict) and key.get("kty") != "oct"]
    return {
        key.key_id: key
        for key in jwt.PyJWKSet.from_dict({"keys": public}).keys
        if key.key_id is not None and key.public_key_use in {None, "sig"}
    }
