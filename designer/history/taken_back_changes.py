"""Changes that a document would take back: it was written before them, and knows nothing of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber

from designer.documents.plan import Change
from designer.history.effects import Line
from designer.history.item_keys import any_of
from designer.history.items import ItemKey
from designer.history.readable_versions import describe
from designer.history.wording import lines
from designer.models import ItemChange, Version
from designer.query_chunks import chunks

# How many changes of one item are looked at. Whoever imports a document older than these reads the plan
# anyway.
_NEWEST = 50


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a version changed in one item and a plan undoes. `lines` are the plan's, in words."""

    version: Version
    item: ItemKey
    what: str
    lines: Sequence[Line]

    def to_json(self) -> dict[str, Any]:
        """Return what is taken back as commands report it. `made_at` is in ISO 8601."""
        return {
            "version": self.version.pk,
            "made_at": self.version.made_at.isoformat(timespec="seconds"),
            "account": self.version.account,
            "what": self.what,
            "lines": [line.text for line in self.lines],
        }


def taken_back(changes: Sequence[tuple[Change, Sequence[Line]]]) -> list[TakenBack]:
    """Return what the changes of a plan undo of recorded versions, the newest version first.

    Each change comes with its lines, in the words of the history.

    The removal of an item undoes the version that added it. It counts only beside something else that the
    plan undoes of that version or of an older one: by themselves, most removals are meant.
    """
    recorded = _recorded_changes([change.item for change, _ in changes])
    counted: list[TakenBack] = []
    removals: list[TakenBack] = []
    for change, planned in changes:
        undone = _taken_back(change, planned, recorded[change.item])
        (removals if change.after is None else counted).extend(undone)
    if counted:
        oldest = min(part.version.pk for part in counted)
        counted += [part for part in removals if part.version.pk >= oldest]
    return sorted(counted, key=lambda part: -part.version.pk)


def _taken_back(
    change: Change, planned: Sequence[Line], recorded: Iterable[ItemChange]
) -> Iterator[TakenBack]:
    """Yield what the lines of `change` undo of each of its item's recorded changes, the newest first."""
    field = change.collection.field
    present = change.before.to_json() if change.before else None
    for earlier in recorded:
        if not planned:
            return
        # A line that leads to what was before a version, and not to what it made, undoes this version.
        made = lines(field, present, earlier.after)
        undone = [
            line for line in lines(field, present, earlier.before) if line in planned and line not in made
        ]
        planned = [line for line in planned if line not in undone]
        if undone:
            yield TakenBack(earlier.version, (field, change.key), describe(field, change.key), undone)


def _recorded_changes(keys: Sequence[ItemKey]) -> Mapping[ItemKey, list[ItemChange]]:
    """Return the newest recorded changes of the items, without the state in which versions began."""
    by_item: dict[ItemKey, list[ItemChange]] = defaultdict(list)
    for chunk in chunks(keys):
        rows = (
            ItemChange.objects.filter(any_of(chunk))
            .exclude(version__origin=Version.Origin.START)
            .annotate(age=Window(RowNumber(), partition_by=["collection", "key"], order_by="-version_id"))
            .filter(age__lte=_NEWEST)
            .select_related("version")
            .order_by("-version_id")
        )
        for row in rows:
            by_item[row.collection, row.key].append(row)
    return by_item
