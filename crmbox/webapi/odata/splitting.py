"""Query options in parts: separators inside parentheses, brackets or quotes separate nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmbox.webapi.errors import WebApiError, bad_url

_OPENING: Final = "(["
_CLOSING: Final = ")]"


def split(text: str, separator: str) -> list[str]:
    """The parts of `text`, without blanks around them. Raises WebApiError for a parenthesis left open."""
    return [part.strip() for part in _parts(text, separator)]


def call(text: str) -> tuple[str, str | None]:
    """`name(inside)` as name and inside; None for a name without parentheses."""
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name.strip(), None
    if not rest.endswith(")"):
        raise _malformed(text)
    return name.strip(), rest[:-1]


def _parts(text: str, separator: str) -> Iterator[str]:
    depth, start, quote = 0, 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character == "'" or (character == '"' and depth):
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth < 0:
                raise _malformed(text)
        elif character == separator and not depth:
            yield text[start:at]
            start = at + 1
    if depth or quote:
        raise _malformed(text)
    yield text[start:]


def _malformed(text: str) -> WebApiError:
    return bad_url(f"Parentheses or quotes without their end in '{text[:200]}'.")
