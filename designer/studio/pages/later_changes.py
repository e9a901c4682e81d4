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
# A field of the form is called `later-LIST:KEY`, by the list of the configuration and the item's key in it.
_FIELD = "later-"
_COLLECTION_NAMES = {collection.field for collection in COLLECTIONS}


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """The later changes of one item that would be taken back (`parts`).

    `choice` is KEEP, TAKE or, until somebody has chosen, empty.
    """

    item: ItemKey
    parts: Sequence[TakenBack]
    choice: str = ""

    @property
    def what(self) -> str:
        """Return the item's name for people."""
        return self.parts[0].what

    @property
    def name(self) -> str:
        """Return the name of the form's field for the choice."""
        return f"{_FIELD}{':'.join(self.item)}"


def later_changes_by_item(report: ImportReport, choices: Mapping[ItemKey, str]) -> list[LaterChanges]:
    """Return the items with later changes, each with its choice; the newest change comes first.

    Items that the report keeps have the choice KEEP, whatever `choices` says.
    """
    parts: defaultdict[ItemKey, list[TakenBack]] = defaultdict(list)
    for part in sorted((*report.taken_back, *report.kept), key=lambda part: -part.version.pk):
        parts[part.item].append(part)
    kept = {part.item for part in report.kept}
    return [
        LaterChanges(item, parts_of_item, KEEP if item in kept else choices.get(item, ""))
        for item, parts_of_item in parts.items()
    ]


def keep_or_take_choices(request: HttpRequest) -> dict[ItemKey, str]:
    """Return the choice that the form has for each item: KEEP or TAKE. Other fields are left out."""
    choices: dict[ItemKey, str] = {}
    for name, value in request.POST.items():
        field, _colon, key = name.removeprefix(_FIELD).partition(":")
        if name.startswith(_FIELD) and field in _COLLECTION_NAMES and key and value in (KEEP, TAKE):
            choices[field, key] = str(value)
    return choices
