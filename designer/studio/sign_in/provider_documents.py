"""The provider's discovery document and keys, kept for some minutes in the cache that processes share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.core import signing
from django.core.cache import cache

# Seconds, as for the keys of issuers of tokens.
MAX_AGE = 600

# Documents are signed: otherwise whoever can write to the cache could replace keys and addresses.
_SALT = "designer.sign-in.provider-documents"


def cached(address: str) -> dict[str, Any] | None:
    """Return the document that was fetched from `address` in the last MAX_AGE seconds; None without one."""
    signed = cache.get(_key(address))
    try:
        entry = signing.loads(signed, salt=_SALT, max_age=MAX_AGE) if isinstance(signed, str) else None
    except signing.BadSignature:
        return None
    # Whoever can write to the cache could also move a signed document to another address.
    return dict(entry["document"]) if entry and entry["address"] == address else None


def store(address: str, document: Mapping[str, Any]) -> None:
    """Keep the document that was fetched from `address` for MAX_AGE seconds."""
    signed = signing.dumps({"address": address, "document": document}, salt=_SALT, compress=True)
    cache.set(_key(address), signed, MAX_AGE)


def forget(*addresses: str) -> None:
    cache.delete_many([_key(address) for address in addresses])


def _key(address: str) -> str:
    return f"portico:sign-in:{hashlib.sha256(address.encode()).hexdigest()}"
