"""Values as text, the way CEL's string() writes them."""

from __future__ import annotations

from typing import Any


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
