"""Cells of CSV files that spreadsheets must not take for formulas."""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """The text; behind an apostrophe where a spreadsheet would calculate it."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
