"""What follows from the party lists of activities: the entity of parties points at whom they may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as changed

from crmbox.metadata.altering import alter_attribute
from crmbox.metadata.draft import Draft
from crmclient.metadata import Cascade, Relationship
from crmclient.parties import ACTIVITY, PARTY, RECORD, collection_of


def attach_parties(draft: Draft) -> None:
    """Let parties point at every activity that has party lists, with which they go, and at every entity that
    a party may be of."""
    if PARTY not in draft.entities:
        return
    activities: set[str] = set()
    records: set[str] = set()
    for name, definition in draft.entities.items():
        for item in definition.attributes:
            if item.attribute.type.holds_parties:
                activities.add(name)
                records.update(item.attribute.targets)

    def of_activity(name: str) -> Relationship:
        return Relationship(collection_of(name), name, PARTY, ACTIVITY, on_delete=Cascade.DELETE)

    def of_record(name: str) -> Relationship:
        called = f"{name}_parties" if name in activities else collection_of(name)
        return Relationship(called, name, PARTY, RECORD)

    _point(draft, ACTIVITY, activities, of_activity)
    _point(draft, RECORD, records, of_record)


def _point(draft: Draft, lookup: str, targets: Iterable[str], relate: Callable[[str], Relationship]) -> None:
    attribute = draft.attribute(PARTY, lookup).attribute
    new = sorted(set(targets) - set(attribute.targets))
    if not new:
        return
    taken = {one.name for definition in draft.entities.values() for one in definition.relationships}
    given = [one for one in map(relate, new) if one.name not in taken]
    alter_attribute(draft, PARTY, changed(attribute, targets=(*attribute.targets, *new)), given)
