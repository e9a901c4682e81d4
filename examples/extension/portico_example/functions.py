"""A function of expressions: `initials("Rita Rep")` is "RR"."""

from __future__ import annotations

from typing import Any

from designer.expressions.functions import Function


def initials(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError("initials takes text")
    return "".join(word[0].upper() for word in text.split())


INITIALS = Function("initials", initials)
