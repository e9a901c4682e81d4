"""`Range` (RFC 9110): one part of a file, counted in bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

# Longer numbers are behind the end of any file.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,100})-([0-9]{0,100})[ \t]*", re.IGNORECASE)


class Span(NamedTuple):
    """A range of a file: the first byte, and the number of bytes."""

    start: int
    length: int


class Unsatisfiable(Exception):
    """The range lies behind the file's end."""


def requested_span(header: str | None, size: int) -> Span | None:
    """Return the part of `size` bytes that the `Range` header asks for; None for the whole.

    Several ranges, other units and wrong ranges get the whole, as HTTP allows. Raises Unsatisfiable.
    """
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None:
        return None
    first, last = match.groups()
    if not first:
        # `bytes=-500`: the last 500 bytes.
        return _last_bytes(int(last), size) if last else None
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    end = min(int(last), size - 1) if last else size - 1
    return Span(start, end - start + 1)


def _last_bytes(count: int, size: int) -> Span:
    """Return the span of the last `count` bytes of a file. Raises Unsatisfiable when there are none."""
    if not count or not size:
        raise Unsatisfiable
    length = min(count, size)
    return Span(size - length, length)
