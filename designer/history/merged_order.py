"""The order of two lists of the same things, neither of which holds all of them."""

from __future__ import annotations

from collections.abc import Iterable


def merged_order(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return `first` with the items that only `second` has, each behind the item that precedes it there."""
    order = list(first)
    behind = 0
    for key in second:
        if key in order:
            behind = order.index(key) + 1
        else:
            order.insert(behind, key)
            behind += 1
    return order
