"""Seals and signatures for data that leaves this process and comes back, with a key for each purpose."""

from __future__ import annotations

import hmac
from functools import cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

# Bytes of a signature.
_SIGNATURE = 32


def seal(content: bytes, purpose: bytes, bound_to: bytes) -> bytes:
    """Return `content` encrypted and authenticated. It opens only for the same `purpose` and `bound_to`."""
    return _ciphers(purpose)[0].encrypt(content, [bound_to])


def unseal(sealed: bytes, purpose: bytes, bound_to: bytes) -> bytes | None:
    """Return the content that was sealed with this key or an earlier one; None for anything else."""
    for cipher in _ciphers(purpose):
        try:
            return cipher.decrypt(sealed, [bound_to])
        except (InvalidTag, ValueError):
            continue
    return None


def signed(content: bytes, purpose: bytes, bound_to: bytes) -> bytes:
    """Return `content` behind a signature. `checked` accepts it for the same `purpose` and
    `bound_to` alone.
    """
    return _signature(_signing_keys(purpose)[0], content, bound_to) + content


def checked(signed_content: bytes, purpose: bytes, bound_to: bytes) -> bytes | None:
    """Return the content that was signed with this key or an earlier one; None for anything else."""
    signature, content = signed_content[:_SIGNATURE], signed_content[_SIGNATURE:]
    for key in _signing_keys(purpose):
        if hmac.compare_digest(signature, _signature(key, content, bound_to)):
            return content
    return None


def _signature(key: bytes, content: bytes, bound_to: bytes) -> bytes:
    """Return the signature of the content, and of what it is bound to."""
    # The length keeps what it is bound to apart from the content.
    return hmac.digest(key, len(bound_to).to_bytes(8, "big") + bound_to + content, "sha256")


def _signing_keys(purpose: bytes) -> tuple[bytes, ...]:
    """Return the keys for signatures. The first one signs; all of them are accepted."""
    return _signing_keys_of(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@cache
def _signing_keys_of(purpose: bytes, *secrets: str) -> tuple[bytes, ...]:
    """Return a key derived from each secret. It is cached, because deriving takes time."""
    return tuple(
        HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose + b".signed").derive(secret.encode())
        for secret in secrets
    )


def _ciphers(purpose: bytes) -> tuple[AESSIV, ...]:
    """Return the ciphers. The first one seals; all of them are tried to unseal."""
    return _ciphers_of(purpose, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@cache
def _ciphers_of(purpose: bytes, *secrets: str) -> tuple[AESSIV, ...]:
    """Return a cipher with a key derived from each secret. It is cached, because deriving takes time."""
    # AES-SIV is safe without a nonce: the same content only gives the same bytes again.
    return tuple(
        AESSIV(HKDF(algorithm=SHA256(), length=64, salt=None, info=purpose).derive(secret.encode()))
        for secret in secrets
    )
