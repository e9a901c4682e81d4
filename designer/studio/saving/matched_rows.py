"""Which rows of a list are the same: on a page as it was opened, as it was sent, and as others saved it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from designer.studio.saving.form_contents import Contents, Shape


class RowOnPages(NamedTuple):
    """A row as the page was opened with it, as I have sent it, and as they have saved it.

    None: the row is not on that page.
    """

    base: Contents | None
    mine: Contents | None
    theirs: Contents | None


@dataclass(frozen=True)
class MatchedRows:
    """The rows of a list by row key, in their order, on the page as it was opened (`base`), as I have sent it
    and as they have saved it. The same row has the same key on each page.
    """

    base: Mapping[str, Contents]
    mine: Mapping[str, Contents]
    theirs: Mapping[str, Contents]

    @classmethod
    def of(
        cls, shape: Shape, base: list[Contents], mine: list[Contents], theirs: list[Contents]
    ) -> MatchedRows:
        """Give the same key to the same row: first by its id, then by its name."""
        base_rows = {f"base-{position}": row for position, row in enumerate(base)}
        their_rows = _by_row_key(shape, base_rows, theirs, "theirs")
        # My rows have the ids of the opened page. Only a new row of mine can be one that they have added
        # under the same name.
        added_by_them = {row_key: row for row_key, row in their_rows.items() if row_key not in base_rows}
        my_rows = _by_row_key(shape, {**their_rows, **base_rows}, mine, "mine", added_by_them)
        return cls(base_rows, my_rows, their_rows)

    @property
    def row_keys(self) -> Iterable[str]:
        return {**self.base, **self.mine, **self.theirs}

    def row_on_pages(self, row_key: str) -> RowOnPages:
        return RowOnPages(self.base.get(row_key), self.mine.get(row_key), self.theirs.get(row_key))


def _by_row_key(
    shape: Shape,
    keyed_rows: Mapping[str, Contents],
    rows: list[Contents],
    prefix: str,
    named_candidates: Mapping[str, Contents] | None = None,
) -> dict[str, Contents]:
    """Return `rows` by row key, in their order.

    First by id: a row takes the key of the row in `keyed_rows` with its id. Then by name: one that is left
    takes the key of the row in `named_candidates` (None: `keyed_rows`) with its name, each key once. Any
    other row is new, and its key is made of `prefix` and its position.
    """
    keys_by_id = {row.pk: row_key for row_key, row in keyed_rows.items() if row.pk}
    row_keys = [keys_by_id.get(row.pk) if row.pk else None for row in rows]
    unmatched = dict(keyed_rows if named_candidates is None else named_candidates)
    for row_key in row_keys:
        unmatched.pop(row_key or "", None)
    for position, row in enumerate(rows):
        name = shape.known_by(row)
        if row_keys[position] is None and name:
            row_keys[position] = next(
                (key for key, candidate in unmatched.items() if shape.known_by(candidate) == name), None
            )
            unmatched.pop(row_keys[position] or "", None)
    return {
        row_key or f"{prefix}-{position}": row
        for position, (row_key, row) in enumerate(zip(row_keys, rows, strict=True))
    }
