"""Values as JSON for people to read."""

from __future__ import annotations

from typing import Any

from runtime.http.rendering import render


def readable(value: Any) -> str:
    """Return a value as indented JSON, with exact numbers as in answers; empty for None."""
    return "" if value is None else render(value, is_indented=True).decode()
