"""Merges two forms of one page that were filled in over the same state.

A change that only one side made is taken. When both sides changed the same thing, the user has to choose. The
user also has to choose for every difference in who may call or which records callers reach.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from designer.history.merged_order import merged_order
from designer.studio.saving.form_contents import (
    Contents,
    FieldValues,
    Shape,
    in_words,
    meaning,
    position_among,
)
from designer.studio.saving.matched_rows import MatchedRows, RowOnPages

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
    """The merged page, as `contents`. `taken` names their changes that were taken without a question."""

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
    contents = merger.merged_form(shape, base, mine, theirs, _Place())
    return Merged(contents, merger.taken, merger.open_questions)


@dataclass(frozen=True)
class _Place:
    """A place on the page: `path` as in `access`, `titles` for people."""

    path: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    def inside(self, name: str, title: str) -> _Place:
        """Return the place of a row, with this title, in the list `name` here."""
        return _Place((*self.path, name), (*self.titles, title))

    def label(self, *titles: str) -> str:
        """Return the titles that lead to something here, the outermost first, as one text."""
        return " › ".join(capfirst(title) for title in (*self.titles, *titles) if title)


class _FieldEdit(NamedTuple):
    """The values that the merged page gets in a field of a row when the user chooses theirs."""

    row: Contents
    field: str
    values: FieldValues


@dataclass(frozen=True)
class _OpenQuestion:
    """A question whose field has no name yet: the merged page is not written."""

    label: str
    mine: str
    theirs: str
    row: Contents
    field: str
    edits: Iterable[_FieldEdit]

    def question(self) -> Question:
        edits = {edit.row.name(edit.field): edit.values for edit in self.edits}
        name = self.row.name(self.field) if self.field else self.row.place
        return Question(name=name, label=self.label, mine=self.mine, theirs=self.theirs, edits=edits)


class _Merger:
    """Merges two forms of a page over what both were opened with. `access` is as on `merge`."""

    def __init__(self, access: frozenset[str]) -> None:
        self._access = access
        self.taken: list[str] = []
        self.open_questions: list[_OpenQuestion] = []

    def merged_form(
        self, shape: Shape, base: Contents | None, mine: Contents, theirs: Contents, place: _Place
    ) -> Contents:
        """Return the merged form, or the merged row of a list, field by field, with the rows inside it.

        Where both sides changed a field to the same value, there is nothing to decide.
        """
        merged = Contents({}, pk=theirs.pk)
        changes = {name: _changes(shape, name, base, mine, theirs) for name in shape.fields}
        changes_of_unit = [changes[name] for name in shape.unit if name in changes]
        # I have changed one field of the unit, and they another: together, the two would mean something else.
        unit_clashes = any(change.by_me for change in changes_of_unit) and any(
            change.by_them for change in changes_of_unit
        )
        for name, form_field in shape.fields.items():
            changed = changes[name]
            my_values, their_values = mine.values.get(name, []), theirs.values.get(name, [])
            merged.values[name] = my_values
            if meaning(form_field, my_values) == meaning(form_field, their_values):
                continue
            label = place.label(str(form_field.label or name))
            must_ask = self._is_access(place, name) or (name in shape.unit and unit_clashes)
            if must_ask or (changed.by_me and changed.by_them):
                words = in_words(form_field, my_values), in_words(form_field, their_values)
                self._ask(label, words, merged, name, [_FieldEdit(merged, name, their_values)])
            elif changed.by_them:
                merged.values[name] = their_values
                self.taken.append(label)
        for name, inner in shape.lists.items():
            if name in mine.rows:
                base_rows = base.rows.get(name) if base is not None else None
                merged.rows[name] = self._merged_rows(
                    inner, name, base_rows, mine.rows[name], theirs.rows.get(name, []), merged, place
                )
        return merged

    def _merged_rows(
        self,
        shape: Shape,
        name: str,
        base: list[Contents] | None,
        mine: list[Contents],
        theirs: list[Contents],
        owner: Contents,
        place: _Place,
    ) -> list[Contents]:
        """Return the merged rows of the list `name` of `owner`.

        `base` is None where the page was not opened with the list, such as in a row that is new on both
        sides.
        """
        matched = MatchedRows.of(shape, base or [], mine, theirs)
        merged: dict[str, Contents] = {}
        for row_key in matched.row_keys:
            row = self._merged_row(shape, name, matched.row_on_pages(row_key), place)
            if row is not None:
                merged[row_key] = row
        return self._in_merged_order(shape, name, matched, merged, owner, place)

    def _in_merged_order(
        self,
        shape: Shape,
        name: str,
        matched: MatchedRows,
        merged: Mapping[str, Contents],
        owner: Contents,
        place: _Place,
    ) -> list[Contents]:
        """Return the rows of `merged`, by row key, in their merged order.

        Where only they have moved rows, it is their order, else mine. Where both sides have moved rows, in
        different ways, the user is asked.
        """
        opened, mine, theirs = (
            [row_key for row_key in page if row_key in merged]
            for page in (matched.base, matched.mine, matched.theirs)
        )
        mine_first, theirs_first = merged_order(mine, theirs), merged_order(theirs, mine)
        i_moved, they_moved = _is_reordered(opened, mine), _is_reordered(opened, theirs)
        order = theirs_first if they_moved and not i_moved else mine_first
        rows = [merged[row_key] for row_key in order]
        if shape.has_order and i_moved and they_moved and _is_reordered(mine, theirs):
            in_their_order = [merged[row_key] for row_key in theirs_first]
            edits = [_FieldEdit(row, "position", [str(position_among(in_their_order, row))]) for row in rows]
            words = _names_of_rows(shape, rows), _names_of_rows(shape, in_their_order)
            self._ask(
                place.label(_("Order of %(rows)s") % {"rows": shape.noun}),
                words,
                owner,
                f"{name}-order",
                edits,
            )
        return rows

    def _merged_row(self, shape: Shape, name: str, on_pages: RowOnPages, place: _Place) -> Contents | None:
        """Return the merged row; None when the merged page does not have it.

        A row that is there on both sides is merged field by field. One that is only on my page is new, and
        stays, or they have removed it, and it goes. The user is asked where I have changed a row that they
        have removed, and about each row that decides on access.
        """
        base, mine, theirs = on_pages
        present = theirs or mine
        if present is None:
            # It is gone on both sides.
            return None
        inner = place.inside(name, shape.title(present))
        is_mine = mine is not None and not mine.removed
        # `mine is not None` is only for the type checker, here and below.
        if is_mine and mine is not None and theirs is not None:
            return self.merged_form(shape, base, mine, theirs, inner)
        is_access = self._is_access(place, name)
        if theirs is not None:
            return self._row_of_theirs_alone(shape, base, mine, theirs, inner, is_access=is_access)
        if not is_mine or mine is None:
            return None
        # They have no such row: it is saved as a new one, and so are the rows inside it.
        row = Contents(mine.values, {key: _as_new_rows(rows) for key, rows in mine.rows.items()})
        if base is not None and not is_access and _is_same(shape, base, mine):
            self.taken.append(_("%(row)s: removed") % {"row": inner.label()})
            return None
        if base is not None or is_access:
            words = _("there, as below"), _("removed") if base is not None else _("not there")
            self._ask(inner.label(), words, row, "", [_FieldEdit(row, "DELETE", ["on"])])
        return row

    def _row_of_theirs_alone(
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
        if is_access or base is None or not _is_same(shape, base, theirs):
            words = _("removed") if mine is not None else _("not there"), _row_in_words(shape, base, theirs)
            self._ask(place.label(), words, row, "", [_FieldEdit(row, "DELETE", [])])
        return row

    def _is_access(self, place: _Place, name: str) -> bool:
        """Whether the field or list `name` decides on access, or a list around it does."""
        path = (*place.path, name)
        return any(".".join(path[:length]) in self._access for length in range(1, len(path) + 1))

    def _ask(
        self,
        label: str,
        words: tuple[str, str],
        row: Contents,
        name: str,
        edits: Iterable[_FieldEdit],
    ) -> None:
        """Add a question about the field `name` of `row`; about the row itself where `name` is empty.

        `words` are my side and theirs.
        """
        self.open_questions.append(_OpenQuestion(label, *words, row, name, edits))


class _Changed(NamedTuple):
    """Which sides have changed a field."""

    by_me: bool
    by_them: bool


def _changes(shape: Shape, name: str, base: Contents | None, mine: Contents, theirs: Contents) -> _Changed:
    """Return which sides have changed the field `name`. Without `base`, both have."""
    form_field = shape.fields[name]
    opened_meaning: Any = _NOTHING
    if base is not None and name in base.values:
        opened_meaning = meaning(form_field, base.values[name])
    return _Changed(
        by_me=meaning(form_field, mine.values.get(name, [])) != opened_meaning,
        by_them=meaning(form_field, theirs.values.get(name, [])) != opened_meaning,
    )


def _is_same(shape: Shape, first: Contents, other: Contents) -> bool:
    """Whether two rows mean the same, with all rows inside them, which are compared in their order."""
    if any(
        meaning(form_field, first.values.get(name, [])) != meaning(form_field, other.values.get(name, []))
        for name, form_field in shape.fields.items()
    ):
        return False
    for name, inner in shape.lists.items():
        rows = [[row for row in side.rows.get(name, []) if not row.removed] for side in (first, other)]
        if len(rows[0]) != len(rows[1]) or any(
            not _is_same(inner, *pair) for pair in zip(*rows, strict=True)
        ):
            return False
    return True


def _row_in_words(shape: Shape, base: Contents | None, theirs: Contents) -> str:
    """Return a row of theirs in words: the fields that they have changed, or the filled ones of a new row."""
    descriptions = []
    for name, form_field in shape.fields.items():
        their_values = theirs.values.get(name, [])
        if base is None:
            is_told = any(their_values)
        else:
            base_values = base.values.get(name, [])
            is_told = meaning(form_field, their_values) != meaning(form_field, base_values)
        if is_told:
            label = capfirst(str(form_field.label or name))
            descriptions.append(f"{label}: {in_words(form_field, their_values)}")
    return "; ".join(descriptions) or _("there")


def _as_new_rows(rows: list[Contents]) -> list[Contents]:
    """Return the rows without their ids, so that they are saved as new ones. Removed rows are left out."""
    return [
        Contents(row.values, {name: _as_new_rows(inner) for name, inner in row.rows.items()})
        for row in rows
        if not row.removed
    ]


def _names_of_rows(shape: Shape, rows: list[Contents]) -> str:
    """Return the names of the rows in their order, with “…” for a row without a name."""
    return ", ".join(" ".join(shape.known_by(row)) or "…" for row in rows if not row.removed)


def _is_reordered(before: list[str], after: list[str]) -> bool:
    """Whether the row keys that are in both lists have another order in `after`."""
    both = set(before) & set(after)
    return [row_key for row_key in before if row_key in both] != [
        row_key for row_key in after if row_key in both
    ]
