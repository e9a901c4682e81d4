"""The list of allowed values, for every type that has one."""

from __future__ import annotations

from typing import Any

from designer.sentences import Sentence
from designer.types.base import InvalidInput, Limits, Reader


def within(limits: Limits, read: Reader) -> Reader:
    """Return a reader that accepts only the allowed values of `limits`; return `read` when there are none.

    The allowed values are read with `read`, too, so that results are compared and not what callers send.
    """
    if not limits.allowed:
        return read
    allowed = frozenset(read(value) for value in limits.allowed)
    sentence = Sentence("Must be one of: %(values)s.", values=", ".join(map(str, limits.allowed)))

    def read_allowed(raw: Any) -> Any:
        """Return what `read` reads. Raises InvalidInput for a value that is not allowed."""
        value = read(raw)
        if value not in allowed:
            raise InvalidInput("not_allowed", sentence)
        return value

    return read_allowed
