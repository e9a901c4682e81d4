"""Merges two forms of one page that were filled in over the same state.

A change that only one side made is taken. When both sides changed the same thing, the user has to choose. The
user also has to choose for every difference in who may call or which records callers reach.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from designer.history.merged_order import merged_order
from designer.studio.saving.form_contents import Contents, FieldValues, Shape, in_words, meaning, place_in

# The meaning of a field that the page did not have when it was opened.
_NOTHING: Any = object()

Edits: TypeAlias = dict[str, FieldValues]


@dataclass(frozen=True)
class Question:
    """A difference that the user has to decide, with both sides in words.

    The merged page has `mine` in its field `name`. `edits` are the field values that change it to `theirs`.
    """

    name: str
    label: str
    mine: str
    theirs: str
    edits: Edits


@dataclass
class Merged:
    """The merged page. `taken` names the changes of theirs that were taken without a question."""

    contents: Contents
    taken: list[str] = field(default_factory=list)
    # Asked once the page has been written: only then do fields have names.
    _open_questions: list[_OpenQuestion] = field(default_factory=list)

    @property
    def questions(self) -> list[Question]:
        return [open_question.question() for open_question in self._open_questions]


def merge(
    shape: Shape, base: Contents | None, mine: Contents, theirs: Contents, access: Collection[str]
) -> Merged:
    """Merge `mine`, the form that was sent, with `theirs`, the state that others have saved.

    `base` is what the page was opened with; without it, every difference is a question. `access` are the
    names of fields that decide who may call or what callers reach: of fields, of whole lists, and of fields
    in lists, such as `fetchers.apply_row_rules`. Write the merged page before you read its questions: they
    need the names of its fields.
    """
    merger = _Merger(frozenset(access))
    contents = merger.form(shape, base, mine, theirs, _Place())
    return Merged(contents, merger.taken, merger.open_questions)


@dataclass(frozen=True)
class _Place:
    """A place on the page: `path` as in `access`, `titles` for people."""

    path: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    def inside(self, name: str, title: str) -> _Place:
        return _Place((*self.path, name), (*self.titles, title))

    def label(self, *titles: str) -> str:
        return " › ".join(capfirst(title) for title in (*self.titles, *titles) if title)


@dataclass(frozen=True)
class _OpenQuestion:
    """A question whose field has no name yet: the merged page is not written."""

    label: str
    mine: str
    theirs: str
    row: Contents
    field: str
    # Row, field and value, to set when the user chooses theirs.
    values: Iterable[tuple[Contents, str, FieldValues]]

    def question(self) -> Question:
        edits = {row.name(name): sent for row, name, sent in self.values}
        name = self.row.name(self.field) if self.field else self.row.place
        return Question(name, self.label, self.mine, self.theirs, edits)


class _Merger:
    """Merges two forms of a page over what both were opened with. `access` is as on `merge`."""

    def __init__(self, access: frozenset[str]) -> None:
        self._access = access
        self.taken: list[str] = []
        self.open_questions: list[_OpenQuestion] = []

    def form(
        self, shape: Shape, base: Contents | None, mine: Contents, theirs: Contents, place: _Place
    ) -> Contents:
        made = Contents({}, pk=theirs.pk)
        changes = {name: _changes(shape, name, base, mine, theirs) for name in shape.fields}
        of_unit = [changes[name] for name in shape.unit if name in changes]
        unit_clashes = any(change[0] for change in of_unit) and any(change[1] for change in of_unit)
        for name, described in shape.fields.items():
            by_me, by_them = changes[name]
            own, other = mine.values.get(name, []), theirs.values.get(name, [])
            made.values[name] = own
            if meaning(described, own) == meaning(described, other):
                continue
            label = place.label(str(described.label or name))
            asks = self._is_access(place, name) or (name in shape.unit and unit_clashes)
            if asks or (by_me and by_them):
                words = in_words(described, own), in_words(described, other)
                self._ask(label, words, made, name, [(made, name, other)])
            elif by_them:
                made.values[name] = other
                self.taken.append(label)
        for name, inner in shape.lists.items():
            if name in mine.rows:
                before = base.rows.get(name) if base is not None else None
                made.rows[name] = self._rows(
                    inner, name, before, mine.rows[name], theirs.rows.get(name, []), made, place
                )
        return made

    def _rows(
        self,
        shape: Shape,
        name: str,
        base: list[Contents] | None,
        mine: list[Contents],
        theirs: list[Contents],
        owner: Contents,
        place: _Place,
    ) -> list[Contents]:
        matched = _MatchedRows.of(shape, base or [], mine, theirs)
        made: dict[str, Contents] = {}
        for mark in matched.marks:
            row = self._row(shape, name, matched.of_mark(mark), place)
            if row is not None:
                made[mark] = row
        return self._in_order(shape, name, matched, made, owner, place)

    def _in_order(
        self,
        shape: Shape,
        name: str,
        matched: _MatchedRows,
        made: Mapping[str, Contents],
        owner: Contents,
        place: _Place,
    ) -> list[Contents]:
        """Return the merged rows `made`, by mark, in their merged order.

        Where only they have moved rows, it is their order, else mine. Where both sides have moved rows, in
        different ways, the user is asked.
        """
        opened, mine, theirs = ([mark for mark in order if mark in made] for order in matched.orders)
        mine_first, theirs_first = merged_order(mine, theirs), merged_order(theirs, mine)
        i_moved, they_moved = _is_reordered(opened, mine), _is_reordered(opened, theirs)
        order = theirs_first if they_moved and not i_moved else mine_first
        rows = [made[mark] for mark in order]
        if shape.has_order and i_moved and they_moved and _is_reordered(mine, theirs):
            other = [made[mark] for mark in theirs_first]
            values = [(row, "position", [str(place_in(other, row))]) for row in rows]
            words = _names_of_rows(shape, rows), _names_of_rows(shape, other)
            self._ask(
                place.label(_("Order of %(rows)s") % {"rows": shape.noun}),
                words,
                owner,
                f"{name}-order",
                values,
            )
        return rows

    def _row(self, shape: Shape, name: str, trio: _Trio, place: _Place) -> Contents | None:
        """Return the merged row; None when the merged page does not have it.

        A row that is there on both sides is merged field by field. One that is only on my page is new, and
        stays, or they have removed it, and it goes. The user is asked where I have changed a row that they
        have removed, and about each row that decides on access.
        """
        base, mine, theirs = trio
        shown = theirs or mine
        if shown is None:
            return None
        inner = place.inside(name, shape.title(shown))
        is_mine = mine is not None and not mine.removed
        if is_mine and mine is not None and theirs is not None:
            return self.form(shape, base, mine, theirs, inner)
        is_access = self._is_access(place, name)
        if theirs is not None:
            return self._theirs_alone(shape, base, mine, theirs, inner, is_access=is_access)
        if not is_mine or mine is None:
            return None
        row = Contents(mine.values, {key: _as_new(rows) for key, rows in mine.rows.items()})
        if base is not None and not is_access and _same(shape, base, mine):
            self.taken.append(_("%(row)s: removed") % {"row": inner.label()})
            return None
        if base is not None or is_access:
            words = _("there, as below"), _("removed") if base is not None else _("not there")
            self._ask(inner.label(), words, row, "", [(row, "DELETE", ["on"])])
        return row

    def _theirs_alone(
        self,
        shape: Shape,
        base: Contents | None,
        mine: Contents | None,
        theirs: Contents,
        place: _Place,
        *,
        is_access: bool,
    ) -> Contents:
        """Return the merged row of a row that is on their page and not, or no longer, on mine.

        They have added it, and it stays, or I have removed it, and it goes. The user is asked where they have
        changed a row that I have removed, and about each row that decides on access.
        """
        row = Contents(theirs.values, theirs.rows, theirs.pk)
        if mine is None and base is not None:
            # A page sends a removed row, too, marked as removed: what it did not send is not removed.
            return row
        if mine is None and not is_access:
            self.taken.append(_("%(row)s: added") % {"row": place.label()})
            return row
        row.removed = True
        if is_access or base is None or not _same(shape, base, theirs):
            words = _("removed") if mine is not None else _("not there"), _in_words(shape, base, theirs)
            self._ask(place.label(), words, row, "", [(row, "DELETE", [])])
        return row

    def _is_access(self, place: _Place, name: str) -> bool:
        path = (*place.path, name)
        return any(".".join(path[:length]) in self._access for length in range(1, len(path) + 1))

    def _ask(
        self,
        label: str,
        words: tuple[str, str],
        row: Contents,
        name: str,
        values: Iterable[tuple[Contents, str, FieldValues]],
    ) -> None:
        self.open_questions.append(_OpenQuestion(label, *words, row, name, values))


# A row as the page was opened with it, as I have sent it, and as they have saved it; None: it is not there.
_Trio: TypeAlias = "tuple[Contents | None, Contents | None, Contents | None]"


@dataclass(frozen=True)
class _MatchedRows:
    """The rows of the pages base, mine and theirs, by mark: the same row has the same mark on each page.

    `orders` are the marks in the order of the rows, page by page.
    """

    pages: tuple[Mapping[str, Contents], Mapping[str, Contents], Mapping[str, Contents]]

    @classmethod
    def of(
        cls, shape: Shape, base: list[Contents], mine: list[Contents], theirs: list[Contents]
    ) -> _MatchedRows:
        """Give the same mark to the same row: first by its id, then by its name."""
        base_rows = {f"base-{position}": row for position, row in enumerate(base)}
        their_rows = _by_mark(shape, base_rows, theirs, "theirs")
        # My rows have the ids of the opened page. Only a new row of mine can be one that they have added
        # under the same name.
        added_by_them = {mark: row for mark, row in their_rows.items() if mark not in base_rows}
        my_rows = _by_mark(shape, {**their_rows, **base_rows}, mine, "mine", added_by_them)
        return cls((base_rows, my_rows, their_rows))

    @property
    def marks(self) -> Iterable[str]:
        return dict.fromkeys(mark for page in self.pages for mark in page)

    @property
    def orders(self) -> list[list[str]]:
        return [list(page) for page in self.pages]

    def of_mark(self, mark: str) -> _Trio:
        base, mine, theirs = (page.get(mark) for page in self.pages)
        return base, mine, theirs


def _by_mark(
    shape: Shape,
    marked_rows: Mapping[str, Contents],
    rows: list[Contents],
    prefix: str,
    by_name: Mapping[str, Contents] | None = None,
) -> dict[str, Contents]:
    """Return `rows` by mark. A row has the mark of the row in `marked_rows` with the same id.

    Without one, it has the mark of the row in `by_name` (or `marked_rows`) with the same name, if that mark
    is free. Any other row is new, and gets a mark of its own that begins with `prefix`.
    """
    marks_by_id = {row.pk: mark for mark, row in marked_rows.items() if row.pk}
    marks = [marks_by_id.get(row.pk) if row.pk else None for row in rows]
    unmatched = dict(marked_rows if by_name is None else by_name)
    for mark in marks:
        unmatched.pop(mark or "", None)
    for position, row in enumerate(rows):
        name = shape.known_by(row)
        if marks[position] is None and name:
            marks[position] = next(
                (mark for mark, candidate in unmatched.items() if shape.known_by(candidate) == name), None
            )
            unmatched.pop(marks[position] or "", None)
    return {
        mark or f"{prefix}-{position}": row
        for position, (mark, row) in enumerate(zip(marks, rows, strict=True))
    }


def _changes(
    shape: Shape, name: str, base: Contents | None, mine: Contents, theirs: Contents
) -> tuple[bool, bool]:
    """Return whether I have changed the field `name`, and whether they have."""
    described = shape.fields[name]
    opened_meaning: Any = _NOTHING
    if base is not None and name in base.values:
        opened_meaning = meaning(described, base.values[name])
    return tuple(meaning(described, side.values.get(name, [])) != opened_meaning for side in (mine, theirs))


def _same(shape: Shape, first: Contents, other: Contents) -> bool:
    """Return whether two rows mean the same, with all rows inside them."""
    if any(
        meaning(described, first.values.get(name, [])) != meaning(described, other.values.get(name, []))
        for name, described in shape.fields.items()
    ):
        return False
    for name, inner in shape.lists.items():
        rows = [[row for row in side.rows.get(name, []) if not row.removed] for side in (first, other)]
        if len(rows[0]) != len(rows[1]) or any(not _same(inner, *pair) for pair in zip(*rows, strict=True)):
            return False
    return True


def _in_words(shape: Shape, base: Contents | None, theirs: Contents) -> str:
    """Return a row of theirs in words: the fields that they have changed, or all fields of a new row."""
    descriptions = [
        f"{capfirst(str(described.label or name))}: {in_words(described, theirs.values.get(name, []))}"
        for name, described in shape.fields.items()
        if any(theirs.values.get(name, [])) or base is not None
        if base is None
        or meaning(described, theirs.values.get(name, [])) != meaning(described, base.values.get(name, []))
    ]
    return "; ".join(descriptions) or _("there")


def _as_new(rows: list[Contents]) -> list[Contents]:
    return [
        Contents(row.values, {name: _as_new(inner) for name, inner in row.rows.items()})
        for row in rows
        if not row.removed
    ]


def _names_of_rows(shape: Shape, rows: list[Contents]) -> str:
    return ", ".join(" ".join(shape.known_by(row)) or "…" for row in rows if not row.removed)


def _is_reordered(before: list[str], after: list[str]) -> bool:
    """Whether the marks in both lists have another order."""
    both = set(before) & set(after)
    return [mark for mark in before if mark in both] != [mark for mark in after if mark in both]
