"""Sizes of files as people read and write them: `10 MB` for 10485760 bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

KILOBYTE: Final = 1024
MEGABYTE: Final = 1024 * KILOBYTE
_UNITS: Final = {"GB": 1024 * MEGABYTE, "MB": MEGABYTE, "KB": KILOBYTE}
_WRITTEN: Final = re.compile(r"(\d{1,15})(?:[.,](\d{1,15}))? ?([a-z]*)", re.ASCII | re.IGNORECASE)
_DIGITS_OF_A_THOUSAND: Final = 3


@dataclass(frozen=True, slots=True)
class FileSize:
    """Annotates a setting that holds a number of bytes: `max_size: Annotated[int, FileSize()]`.

    The studio shows and takes it with a unit.
    """


def size_in_words(size: int) -> str:
    """Return a number of bytes with the largest unit in which it is a whole number: `10 MB`."""
    for unit, factor in _UNITS.items():
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return "1 byte" if size == 1 else f"{size} bytes"


def size_in_bytes(text: str) -> int:
    """Return the bytes that a size such as `1.5 MB` means, or `1,5 MB`. A number without a unit counts MB.

    Raises ValueError for other texts, and for a number with three digits after its sign: `1,500` is read as
    one and a half by some, and as a thousand and more by others.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or len(match[2] or "") == _DIGITS_OF_A_THOUSAND:
        raise ValueError(text)
    whole, fraction, unit = match[1], match[2] or "", match[3].upper() or "MB"
    factor = 1 if unit in {"B", "BYTE", "BYTES"} else _UNITS.get(unit)
    if factor is None:
        raise ValueError(text)
    return int(Decimal(f"{whole}.{fraction or 0}") * factor)
