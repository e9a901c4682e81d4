"""The list of allowed values, for every type that has one."""

from __future__ import annotations

from typing import Any

from designer.types.base import InvalidInput, Limits, Reader


def within(limits: Limits, read: Reader) -> Reader:
    """`read`, narrowed to the allowed values when there are any; compared as the values they become."""
    if not limits.allowed:
        return read
    allowed = frozenset(read(value) for value in limits.allowed)
    sentence = "Must be one of: " + ", ".join(str(value) for value in limits.allowed) + "."

    def read_allowed(raw: Any) -> Any:
        value = read(raw)
        if value not in allowed:
            raise InvalidInput("not_allowed", sentence)
        return value

    return read_allowed
