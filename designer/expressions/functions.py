"""The functions of an expression: CEL's own, and what consultants miss in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from designer.expressions.text import as_text

STANDARD = frozenset(
    {
        *("size", "contains", "startsWith", "endsWith", "matches", "type", "min", "max"),
        *("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"),
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    }
)


def join(items: Any, separator: Any = ", ") -> str:
    """The items as one text; nulls are left out."""
    if not isinstance(items, list):
        raise TypeError("join takes a list")
    return str(separator).join(as_text(item) for item in items if item is not None)


def coalesce(*values: Any) -> Any:
    """The first value that is not null."""
    return next((value for value in values if value is not None), None)


OWN: Mapping[str, Callable[..., Any]] = {"join": join, "coalesce": coalesce}
