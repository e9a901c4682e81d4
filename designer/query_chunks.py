"""Keys in pieces, a query for each: databases limit the number of a query's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Key = TypeVar("_Key")

CHUNK = 200
"""Keys to a query, and rows to an insert."""


def chunks(keys: Sequence[_Key]) -> Iterator[Sequence[_Key]]:
    """Yield the keys in order, at most CHUNK at a time."""
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]
