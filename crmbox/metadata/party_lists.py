"""The targets of the entity of parties, which follow from the party lists of activities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as changed

from crmbox.metadata.alterations import alter_attribute
from crmbox.metadata.draft import Draft
from crmclient.metadata import Cascade, Relationship
from crmclient.parties import ACTIVITY, PARTY, RECORD, collection_of


def attach_parties(draft: Draft) -> None:
    """Let the entity of activity parties refer to every activity with party lists, and to every entity whose
    records can be parties.

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
        # An activity that is a party itself needs another name, because its own parties have the usual one.
        relationship_name = f"{name}_parties" if name in activities else collection_of(name)
        return Relationship(relationship_name, name, PARTY, RECORD)

    _add_targets(draft, ACTIVITY, activities, of_activity)
    _add_targets(draft, RECORD, records, of_record)


def _add_targets(
    draft: Draft, lookup: str, targets: Iterable[str], make_relationship: Callable[[str], Relationship]
) -> None:
    """Let `lookup` of the entity of activity parties point at further entities, `targets`.

    `make_relationship` makes the relationship to one of them. A relationship whose name exists already is not
    added: the target gets a plain one then.
    """
    attribute = draft.attribute(PARTY, lookup).attribute
    new_targets = sorted(set(targets) - set(attribute.targets))
    if not new_targets:
        return
    names_in_use = {
        relationship.name
        for definition in draft.entities.values()
        for relationship in definition.relationships
    }
    relationships = [
        relationship
        for relationship in map(make_relationship, new_targets)
        if relationship.name not in names_in_use
    ]
    alter_attribute(
        draft, PARTY, changed(attribute, targets=(*attribute.targets, *new_targets)), relationships
    )
