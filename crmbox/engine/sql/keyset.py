"""Conditions for the rows after a given one, in a form that an index can seek.

The text depends on which values of the last row are empty. No index can seek `x < v OR x IS NULL`, so a page
over a first key that may be empty has two parts, queried one after the other until the page is full.
"""

from __future__ import annotations

from collections.abc import Sequence

from crmbox.engine.sql.fragment import Fragment, Slot, concat
from crmbox.engine.sql.orders import SortKey

CONSTRUCT = "page token"


def parts_after(
    keys: Sequence[SortKey], empty: Sequence[bool], first_slot: int, placeholder: str
) -> tuple[Fragment, ...]:
    """Return the conditions for the rows after the last one of a page, one for each part to query in turn.

    There are no parts where no row can follow. `empty` says which values of the last row are empty. The slots
    of the last row's values, in the order of `keys`, begin at `first_slot`. Empty values are the lowest: they
    come first in an ascending order, and last in a descending one.
    """
    writer = _Writer(keys, empty, first_slot, placeholder)
    return _parts_after_empty_value(writer, keys[0]) if empty[0] else _parts_after_value(writer, keys[0])


def _parts_after_empty_value(writer: _Writer, first_key: SortKey) -> tuple[Fragment, ...]:
    """Return the parts where the last row is empty in the first key."""
    sql = first_key.sql
    rest = writer.rest(1)
    same_value = () if rest is None else (concat(f"{sql} IS NULL AND ", rest),)
    # In an ascending order, the filled values follow the empty ones; in a descending one, nothing does.
    return same_value if first_key.descending else (*same_value, Fragment(f"{sql} IS NOT NULL"))


def _parts_after_value(writer: _Writer, first_key: SortKey) -> tuple[Fragment, ...]:
    """Return the parts where the last row has a value `v` in the first key `k`."""
    beyond, beyond_or_equal = ("<", "<=") if first_key.descending else (">", ">=")
    filled = writer.compared(0, beyond)
    rest = writer.rest(1)
    if rest is not None:
        # `k >= v AND (k > v OR k = v AND …)`: the first comparison adds nothing, but an index can seek it.
        bound, same_value = writer.compared(0, beyond_or_equal), writer.compared(0, "=")
        filled = concat(bound, " AND (", filled, " OR ", same_value, " AND ", rest, ")")
    # Empty values are the lowest: in a descending order they follow the filled ones.
    if first_key.descending and first_key.nullable:
        return filled, Fragment(f"{first_key.sql} IS NULL")
    return (filled,)


class _Writer:
    """Writes the conditions for rows after a given one. `empty` says which keys of that row are empty."""

    def __init__(
        self, keys: Sequence[SortKey], empty: Sequence[bool], first_slot: int, placeholder: str
    ) -> None:
        self._keys = keys
        self._empty = empty
        self._first_slot = first_slot
        self._placeholder = placeholder

    def compared(self, index: int, sign: str) -> Fragment:
        """Return a comparison of the key `index` with the value of the last row, which is not empty."""
        key = self._keys[index]
        slot = Slot(self._first_slot + index, key.from_token, CONSTRUCT)
        return Fragment(f"{key.sql} {sign} {self._placeholder}", (slot,))

    def rest(self, index: int) -> Fragment | None:
        """Return the condition that a row comes after the last one by the keys from `index` on.

        That is: by the key `index`, or else equal in it and after by the further keys. None: no row can.
        """
        if index == len(self._keys):
            return None
        beyond, equal, rest = self._beyond(index), self._equal(index), self.rest(index + 1)
        alternatives = [] if beyond is None else [beyond]
        if rest is not None:
            alternatives.append(concat(equal, " AND ", rest))
        if not alternatives:
            return None
        if len(alternatives) == 1:
            return alternatives[0]
        return concat("(", alternatives[0], " OR ", alternatives[1], ")")

    def _beyond(self, index: int) -> Fragment | None:
        """Return the condition that a row comes after the last one by the key `index`; None when no
        row can.
        """
        key = self._keys[index]
        if self._empty[index]:
            return None if key.descending else Fragment(f"{key.sql} IS NOT NULL")
        if not key.descending:
            return self.compared(index, ">")
        lower = self.compared(index, "<")
        return concat("(", lower, f" OR {key.sql} IS NULL)") if key.nullable else lower

    def _equal(self, index: int) -> Fragment:
        """Return the condition that a row is equal to the last one in the key `index`."""
        if self._empty[index]:
            return Fragment(f"{self._keys[index].sql} IS NULL")
        return self.compared(index, "=")
