"""What `like` understands: `%` any text, `_` one character, `[a-f]` one of, `[^a-f]` none of, `[%]` the sign.

Patterns meet the comparison form of texts, so their letters are folded too. A bracket that is not closed
stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from crmclient.text import fold


@dataclass(frozen=True, slots=True)
class AnyText:
    pass


@dataclass(frozen=True, slots=True)
class OneCharacter:
    pass


@dataclass(frozen=True, slots=True)
class Characters:
    """One character within one of `ranges` (first, last), or within none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool


Token: TypeAlias = str | AnyText | OneCharacter | Characters


def begins_with(text: str) -> list[Token]:
    return [fold(text), AnyText()]


def ends_with(text: str) -> list[Token]:
    return [AnyText(), fold(text)]


def contains(text: str) -> list[Token]:
    return [AnyText(), fold(text), AnyText()]


def like(pattern: str) -> list[Token]:
    """Return the tokens of a LIKE pattern as on SQL Server: %, _ and sets such as [a-f] or [^0-9].

    Neighbouring letters are one token: a text, folded as values are for a comparison.
    """
    tokens: list[Token] = []
    letters: list[str] = []
    for token in _parts(pattern):
        if isinstance(token, str):
            letters.append(token)
            continue
        if letters:
            tokens.append(fold("".join(letters)))
            letters.clear()
        tokens.append(token)
    if letters:
        tokens.append(fold("".join(letters)))
    return tokens


def _parts(pattern: str) -> Iterator[Token]:
    """Yield the parts of a pattern: wildcards, sets of characters, and single letters."""
    position = 0
    while position < len(pattern):
        character = pattern[position]
        # A bracket that is not closed, or closed at once, stands for itself.
        end = pattern.find("]", position + 1) if character == "[" else -1
        if character == "%":
            yield AnyText()
        elif character == "_":
            yield OneCharacter()
        elif end > position + 1:
            yield _characters(pattern[position + 1 : end])
            position = end
        else:
            yield character
        position += 1


def _characters(inside: str) -> Token:
    """Return the set of characters between brackets, folded; empty text where it holds none."""
    negated = inside.startswith("^") and len(inside) > 1
    members = inside[1:] if negated else inside
    ranges: list[tuple[str, str]] = []
    position = 0
    while position < len(members):
        if position + 2 < len(members) and members[position + 1] == "-":
            ranges.append(_folded_range(members[position], members[position + 2]))
            position += 3
        else:
            # Folding can make several characters of one, such as "ss" of "ß".
            ranges.extend((folded, folded) for folded in fold(members[position]))
            position += 1
    return Characters(tuple(ranges), negated) if ranges else ""


def _folded_range(first: str, last: str) -> tuple[str, str]:
    """Return a range of characters, folded where that leaves a range of single characters.

    Its end never comes before its beginning, which PostgreSQL would refuse.
    """
    low, high = fold(first), fold(last)
    if len(low) == len(high) == 1 and low <= high:
        return low, high
    return first, max(first, last)
