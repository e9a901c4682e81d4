"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from designer.sentences import Sentence as _


def nearest(word: str, names: Iterable[str], least_alike: float = 0.6) -> str | None:
    """Return the one of `names` that is nearest to `word`, whatever its case; None where none is near.

    `least_alike` is the ratio of letters that both have in common, from 0 to 1.
    """
    # In reverse, so that of names that differ in case alone, the first in order is kept.
    by_lower = {name.lower(): name for name in sorted(names, reverse=True)}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=least_alike)
    return by_lower[near[0]] if near else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question that names the nearest of `names`, with a space before it; empty where
    none is near.
    """
    near = nearest(word, names)
    return "" if near is None else _(" Did you mean “%(name)s”?", name=near)
