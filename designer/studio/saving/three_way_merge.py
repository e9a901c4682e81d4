"""Two forms of one page, both filled in over the same state, made into one.

What only one of both has changed is taken from that one. Where both have changed the same thing, somebody has
to say which it is to be; whatever decides who may call or which records callers reach is always asked about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from designer.merged_order import merged_order
from designer.studio.saving.form_contents import Contents, Sent, Shape, in_words, meaning, place_in

# Of a field that the page was opened without.
_NOTHING: Any = object()

Edits: TypeAlias = dict[str, Sent]


@dataclass(frozen=True)
class Question:
    """Both sides in words. The merged page has `mine` in its field `name`; `edits` make it theirs."""

    name: str
    label: str
    mine: str
    theirs: str
    edits: Edits


@dataclass
class Merged:
    """`taken` names what is theirs alone."""

    contents: Contents
    taken: list[str] = field(default_factory=list)
    # Asked once the page has been written: only then do fields have names.
    _asked: list[_Asked] = field(default_factory=list)

    @property
    def questions(self) -> list[Question]:
        return [asked.question() for asked in self._asked]


def merge(
    shape: Shape, base: Contents | None, mine: Contents, theirs: Contents, access: Collection[str]
) -> Merged:
    """`base` is what both pages were opened with; without it, every difference is a question.

    `access` are the names of fields that decide who may call or what callers reach, of whole lists, and of
    fields in lists, `fetchers.apply_row_rules`. The page that is made of it has to be written before
    its questions are read.
    """
    merger = _Merger(frozenset(access))
    contents = merger.form(shape, base, mine, theirs, _Place())
    return Merged(contents, merger.taken, merger.asked)


@dataclass(frozen=True)
class _Place:
    """Where on the page: `path` in the terms of `access`, `titles` for people."""

    path: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    def inside(self, name: str, title: str) -> _Place:
        return _Place((*self.path, name), (*self.titles, title))

    def label(self, *titles: str) -> str:
        return " › ".join(capfirst(title) for title in (*self.titles, *titles) if title)


@dataclass(frozen=True)
class _Asked:
    label: str
    mine: str
    theirs: str
    row: Contents
    field: str
    # By row: what its fields are to be where the answer is theirs.
    values: Iterable[tuple[Contents, str, Sent]]

    def question(self) -> Question:
        edits = {row.name(name): sent for row, name, sent in self.values}
        name = self.row.name(self.field) if self.field else self.row.place
        return Question(name, self.label, self.mine, self.theirs, edits)


class _Merger:
    def __init__(self, access: frozenset[str]) -> None:
        self._access = access
        self.taken: list[str] = []
        self.asked: list[_Asked] = []

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
        trio = _Matched.of(shape, base or [], mine, theirs)
        made: dict[str, Contents] = {}
        for mark in trio.marks:
            row = self._row(shape, name, trio.of_mark(mark), place)
            if row is not None:
                made[mark] = row
        orders = [[mark for mark in order if mark in made] for order in trio.orders]
        mine_first, theirs_first = merged_order(orders[1], orders[2]), merged_order(orders[2], orders[1])
        moved = [_moved(orders[0], order) for order in orders[1:]]
        both = set(orders[1]) & set(orders[2])
        is_clash = [mark for mark in orders[1] if mark in both] != [
            mark for mark in orders[2] if mark in both
        ]
        order = theirs_first if moved[1] and not moved[0] else mine_first
        rows = [made[mark] for mark in order]
        if shape.has_order and all(moved) and is_clash:
            other = [made[mark] for mark in theirs_first]
            values = [(row, "position", [str(place_in(other, row))]) for row in rows]
            words = _listed(shape, rows), _listed(shape, other)
            self._ask(
                place.label(_("Order of %(rows)s") % {"rows": shape.noun}),
                words,
                owner,
                f"{name}-order",
                values,
            )
        return rows

    def _row(self, shape: Shape, name: str, trio: _Trio, place: _Place) -> Contents | None:
        """The row as the page is to have it; None where it is not there."""
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
        """Of a row that is on their page and not on mine."""
        row = Contents(theirs.values, theirs.rows, theirs.pk)
        if mine is None and base is not None:
            return row
        if mine is None and not is_access:
            self.taken.append(_("%(row)s: added") % {"row": place.label()})
            return row
        row.removed = True
        if is_access or base is None or not _same(shape, base, theirs):
            words = _("removed") if mine is not None else _("not there"), _told(shape, base, theirs)
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
        values: Iterable[tuple[Contents, str, Sent]],
    ) -> None:
        self.asked.append(_Asked(label, *words, row, name, values))


_Trio: TypeAlias = "tuple[Contents | None, Contents | None, Contents | None]"


@dataclass(frozen=True)
class _Matched:
    """Rows of three pages by a mark that the same row has on each; `orders` are these marks, page by page."""

    pages: tuple[Mapping[str, Contents], Mapping[str, Contents], Mapping[str, Contents]]

    @classmethod
    def of(cls, shape: Shape, base: list[Contents], mine: list[Contents], theirs: list[Contents]) -> _Matched:
        opened = {f"was-{at}": row for at, row in enumerate(base)}
        saved = _marked(shape, opened, theirs, "theirs")
        known = {**saved, **opened}
        # A row of mine is found by what it was when the page was opened, and a new one by what it is called.
        sent = _marked(
            shape, known, mine, "mine", {mark: row for mark, row in saved.items() if mark not in opened}
        )
        return cls((opened, sent, saved))

    @property
    def marks(self) -> Iterable[str]:
        return dict.fromkeys(mark for page in self.pages for mark in page)

    @property
    def orders(self) -> list[list[str]]:
        return [list(page) for page in self.pages]

    def of_mark(self, mark: str) -> _Trio:
        base, mine, theirs = (page.get(mark) for page in self.pages)
        return base, mine, theirs


def _marked(
    shape: Shape,
    known: Mapping[str, Contents],
    rows: list[Contents],
    new: str,
    by_name: Mapping[str, Contents] | None = None,
) -> dict[str, Contents]:
    """`rows` by the marks of `known` ones: those of the same id, then those that are called the same."""
    ids = {row.pk: mark for mark, row in known.items() if row.pk}
    marks = [ids.get(row.pk) if row.pk else None for row in rows]
    free = dict(known if by_name is None else by_name)
    for mark in marks:
        free.pop(mark or "", None)
    for at, row in enumerate(rows):
        called = shape.known_by(row)
        if marks[at] is None and called:
            marks[at] = next((mark for mark, one in free.items() if shape.known_by(one) == called), None)
            free.pop(marks[at] or "", None)
    return {mark or f"{new}-{at}": row for at, (mark, row) in enumerate(zip(marks, rows, strict=True))}


def _changes(
    shape: Shape, name: str, base: Contents | None, mine: Contents, theirs: Contents
) -> tuple[bool, bool]:
    """Whether I, and whether they, have changed a field."""
    described = shape.fields[name]
    was: Any = _NOTHING
    if base is not None and name in base.values:
        was = meaning(described, base.values[name])
    return tuple(meaning(described, side.values.get(name, [])) != was for side in (mine, theirs))


def _same(shape: Shape, one: Contents, other: Contents) -> bool:
    if any(
        meaning(described, one.values.get(name, [])) != meaning(described, other.values.get(name, []))
        for name, described in shape.fields.items()
    ):
        return False
    for name, inner in shape.lists.items():
        rows = [[row for row in side.rows.get(name, []) if not row.removed] for side in (one, other)]
        if len(rows[0]) != len(rows[1]) or any(not _same(inner, *pair) for pair in zip(*rows, strict=True)):
            return False
    return True


def _told(shape: Shape, base: Contents | None, theirs: Contents) -> str:
    """A row of theirs in words: what they have changed of it, or what is in it where it is new."""
    said = [
        f"{capfirst(str(described.label or name))}: {in_words(described, theirs.values.get(name, []))}"
        for name, described in shape.fields.items()
        if any(theirs.values.get(name, [])) or base is not None
        if base is None
        or meaning(described, theirs.values.get(name, [])) != meaning(described, base.values.get(name, []))
    ]
    return "; ".join(said) or _("there")


def _as_new(rows: list[Contents]) -> list[Contents]:
    return [
        Contents(row.values, {name: _as_new(inner) for name, inner in row.rows.items()})
        for row in rows
        if not row.removed
    ]


def _listed(shape: Shape, rows: list[Contents]) -> str:
    return ", ".join(" ".join(shape.known_by(row)) or "…" for row in rows if not row.removed)


def _moved(before: list[str], after: list[str]) -> bool:
    both = set(before) & set(after)
    return [mark for mark in before if mark in both] != [mark for mark in after if mark in both]
