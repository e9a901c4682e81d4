"""The targets of the entity of parties, which follow from the party lists of activities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as changed

from crmbox.metadata.alterations import alter_attribute
from crmbox.metadata.draft import Draft
from crmclient.metadata import Cascade, Relationship
from crmclient.parties import ACTIVITY, PARTY, RECORD, collection_of


def attach_parties(draft: Draft) -> None:
    """Let parties refer to every activity with party lists, and to every entity that a party may be of.

    Parties are deleted with their activity.
    """
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
        relationship_name = f"{name}_parties" if name in activities else collection_of(name)
        return Relationship(relationship_name, name, PARTY, RECORD)

    _add_targets(draft, ACTIVITY, activities, of_activity)
    _add_targets(draft, RECORD, records, of_record)


def _add_targets(
    draft: Draft, lookup: str, targets: Iterable[str], relate: Callable[[str], Relationship]
) -> None:
    """Let a party list's lookup point at further entities. `relate` makes the relationship for one
    of them.
    """
    attribute = draft.attribute(PARTY, lookup).attribute
    new = sorted(set(targets) - set(attribute.targets))
    if not new:
        return
    names_in_use = {
        relationship.name
        for definition in draft.entities.values()
        for relationship in definition.relationships
    }
    relationships = [
        relationship for relationship in map(relate, new) if relationship.name not in names_in_use
    ]
    alter_attribute(draft, PARTY, changed(attribute, targets=(*attribute.targets, *new)), relationships)
