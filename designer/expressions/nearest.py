"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from designer.sentences import Sentence as _


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question that names the nearest of `names`, with a space before it; empty where
    none is near.
    """
    by_lower = {name.lower(): name for name in sorted(names, reverse=True)}
    near = get_close_matches(word.lower(), by_lower, n=1)
    return _(" Did you mean “%(name)s”?", name=by_lower[near[0]]) if near else ""
