"""Whole numbers in addresses and forms: rows, counts, positions.

`int` raises ValueError for a text of thousands of digits, and databases raise errors for numbers of twenty.
"""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 18


def sent_number(text: str) -> int | None:
    """Return the number that a text is; None for any other text, and for one with more than 18 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
