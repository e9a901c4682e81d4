"""The entity that shows all activities. It follows from the entities of activities that exist."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Final

from crmbox.engine.definitions import ACTIVITY_TYPE, EntityDefinition
from crmbox.engine.record_views import create_view, drop_view
from crmbox.metadata.alterations import alter_attribute
from crmbox.metadata.draft import Draft
from crmclient.metadata import Relationship
from crmclient.parties import ACTIVITY

POINTER: Final = "activitypointer"
REGARDING: Final = "regardingobjectid"


def attach_activities(draft: Draft) -> None:
    """Let the common entity `activitypointer` show every activity of the draft, as a view of their tables.

    Its lookup then refers to all entities that activities are about. Nothing happens where an import has made
    a table of the common entity, and where no activity has changed.
    """
    if POINTER not in draft.entities or not draft.entities[POINTER].is_view:
        return
    members = [draft.entities[name] for name in sorted(draft.entities) if is_activity(draft.entities[name])]
    names = {POINTER, *(member.entity.logical_name for member in members)}
    # The view stays as it is if no activity, nor the view itself, is new, changed or removed. What a removed
    # entity was can no longer be told, so a removal counts.
    if all(name in draft.entities and name not in names for name in draft.changed_entities):
        return
    _add_targets(draft, members)
    view = draft.entities[POINTER]
    # The view must be dropped before anything that it shows.
    draft.statements.insert(0, (drop_view(view), ()))
    draft.run_later([create_view(view, members, ACTIVITY_TYPE, draft.dialect)])


def is_activity(definition: EntityDefinition) -> bool:
    """Whether an entity's records are activities. All activities have the same primary id attribute."""
    return definition.entity.primary_id == ACTIVITY and not definition.is_view


def _add_targets(draft: Draft, members: list[EntityDefinition]) -> None:
    """Let the common entity's lookup point at every entity that one of the activities is about."""
    attribute = draft.attribute(POINTER, REGARDING).attribute
    subjects = {
        target
        for member in members
        for item in member.attributes
        if item.attribute.logical_name == REGARDING
        for target in item.attribute.targets
    }
    new_targets = sorted(subjects - set(attribute.targets))
    if not new_targets:
        return
    names_in_use = {
        relationship.name
        for definition in draft.entities.values()
        for relationship in definition.relationships
    }
    names_by_target = {target: f"{target}_ActivityPointers" for target in new_targets}
    # A relationship whose name is in use is left out: `alter_attribute` makes a plain one to the target then.
    relationships = [
        Relationship(name, target, POINTER, REGARDING)
        for target, name in names_by_target.items()
        if name not in names_in_use
    ]
    alter_attribute(
        draft, POINTER, changed(attribute, targets=(*attribute.targets, *new_targets)), relationships
    )
