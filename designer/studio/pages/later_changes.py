"""The items whose later changes a document would take back, and what somebody has chosen for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from designer.documents.keys import COLLECTIONS
from designer.history.items import ItemKey
from designer.history.taken_back_changes import TakenBack
from designer.imports.import_report import ImportReport

# The item stays as it is, or becomes what the document says.
KEEP, TAKE = "keep", "take"
# The button that chooses one of them for all items.
ALL = "later"
# Before the list and the key of an item in the names of the form's fields.
_FIELD = "later-"
_LISTS = {collection.field for collection in COLLECTIONS}


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """What was changed in one item and would be taken back; `choice` is empty until somebody has chosen."""

    item: ItemKey
    parts: Sequence[TakenBack]
    choice: str = ""

    @property
    def what(self) -> str:
        return self.parts[0].what

    @property
    def name(self) -> str:
        return f"{_FIELD}{':'.join(self.item)}"


def by_item(report: ImportReport, choices: Mapping[ItemKey, str]) -> list[LaterChanges]:
    """Return the items that the report names, each with what was chosen, those with the newest changes first.

    Which items stay as they are, the report says.
    """
    parts: defaultdict[ItemKey, list[TakenBack]] = defaultdict(list)
    for part in sorted((*report.taken_back, *report.kept), key=lambda part: -part.version.pk):
        parts[part.item].append(part)
    kept = {part.item for part in report.kept}
    return [
        LaterChanges(item, undone, KEEP if item in kept else choices.get(item, ""))
        for item, undone in parts.items()
    ]


def choices_of(request: HttpRequest) -> dict[ItemKey, str]:
    """Return what the form says of each item: KEEP or TAKE."""
    choices: dict[ItemKey, str] = {}
    for name, value in request.POST.items():
        field, _colon, key = name.removeprefix(_FIELD).partition(":")
        if name.startswith(_FIELD) and field in _LISTS and key and value in (KEEP, TAKE):
            choices[field, key] = str(value)
    return choices
