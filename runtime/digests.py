"""Texts and digests of several parts: other parts give others, however the parts are divided."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def joined(parts: Iterable[str]) -> str:
    """Return one text of all parts. Other parts give another text."""
    # Lengths keep ("a", "bc") apart from ("ab", "c").
    return "".join(f"{len(part)}:{part}" for part in parts)


def digest_of(parts: Iterable[str]) -> str:
    """Return the SHA-256 of all parts in hexadecimal. It does not reveal the parts."""
    # A caller may send half of a surrogate pair, which plain UTF-8 refuses.
    return hashlib.sha256(joined(parts).encode("utf-8", "surrogatepass")).hexdigest()
