"""Removing definitions. A definition that holds data, or that another one uses, cannot be removed."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Final

from crmbox.engine import tables as schema
from crmbox.engine.definitions import EntityDefinition, SpareColumn
from crmbox.metadata.draft import Draft
from crmclient.errors import InvalidDefinition, UnknownOptionSet
from crmclient.metadata import Attribute, AttributeType
from crmclient.parties import PARTY

_NOTES: Final = "annotation"
_FILES = frozenset({AttributeType.FILE, AttributeType.IMAGE})


def delete_attribute(draft: Draft, entity: str, name: str, *, holds_files: bool) -> None:
    """Remove a custom attribute. Its columns are emptied and kept for a later attribute.

    `holds_files`: records have files in it. Raises InvalidDefinition for an attribute that is needed.
    """
    definition = draft.entity(entity)
    item = draft.attribute(entity, name)
    _check_is_deletable(definition, item.attribute, holds_files=holds_files)
    columns = schema.physical_columns(item, draft.dialect) if not definition.is_view else []
    if columns:
        draft.run_later(schema.drop_indexes(definition, item, draft.dialect))
        draft.run_later([schema.empty_columns(definition, [column for column, _ in columns])])
    spare = tuple(SpareColumn(column, storage) for column, storage in columns)
    draft.put_entity(
        changed(
            definition,
            attributes=tuple(other for other in definition.attributes if other is not item),
            relationships=tuple(r for r in definition.relationships if r.referencing_attribute != name),
            spare=(*definition.spare, *spare),
        )
    )


def _check_is_deletable(definition: EntityDefinition, attribute: Attribute, *, holds_files: bool) -> None:
    """Raise InvalidDefinition for an attribute that is needed. `holds_files`: records have files in it."""
    entity, name = definition.entity.logical_name, attribute.logical_name
    if not attribute.is_custom:
        raise InvalidDefinition(f"{entity}.{name}: only a custom attribute can be deleted.")
    if attribute.is_primary_id or attribute.is_primary_name:
        raise InvalidDefinition(f"{entity}.{name}: every record is known by it.")
    for key in definition.entity.keys:
        if name in key.attributes:
            raise InvalidDefinition(f"{entity}.{name}: it is part of the key {key.name}.")
    for other in definition.attributes:
        if name in other.joined_from or (other.file_fact is not None and other.file_fact.file == name):
            raise InvalidDefinition(f"{entity}.{name}: {other.attribute.logical_name} is made of it.")
    if attribute.type.holds_parties:
        raise InvalidDefinition(f"{entity}.{name}: a party list stays.")
    if attribute.type in _FILES and holds_files:
        raise InvalidDefinition(f"{entity}.{name}: records hold files in it; remove the files first.")


def delete_entity(draft: Draft, name: str, *, is_empty: bool) -> None:
    """Remove a custom entity without records, and its table.

    Raises InvalidDefinition if a lookup of another entity points at it, except those of notes and parties.
    """
    definition = draft.entity(name)
    if not definition.entity.is_custom:
        raise InvalidDefinition(f"{name}: only a custom entity can be deleted.")
    if not is_empty:
        raise InvalidDefinition(f"{name}: it has records; delete them first.")
    for other_name, other in draft.entities.items():
        pointing = [item for item in other.attributes if name in item.attribute.targets]
        if other_name == name or not pointing:
            continue
        # The lookups of notes and parties only lose this target. One of notes that would have no target left
        # forbids the deletion.
        if _exists_only_for(definition, other_name) and all(
            len(item.attribute.targets) > 1 or other_name == PARTY for item in pointing
        ):
            continue
        column = pointing[0].attribute.logical_name
        raise InvalidDefinition(f"{name}: {other_name}.{column} points at it.")
    for other_name in list(draft.entities):
        if other_name != name:
            _forget_target(draft, other_name, name)
    draft.run_later(schema.drop_table(definition, draft.dialect))
    draft.remove_entity(name)


def _exists_only_for(definition: EntityDefinition, other: str) -> bool:
    """Whether records of `other` exist only for records of the entity: notes, and parties."""
    has_parties = any(item.attribute.type.holds_parties for item in definition.attributes)
    return (definition.entity.has_notes and other == _NOTES) or (has_parties and other == PARTY)


def delete_option_set(draft: Draft, name: str) -> None:
    """Remove a global option set. Raises UnknownOptionSet, and InvalidDefinition while a choice uses it."""
    if name not in draft.option_sets:
        raise UnknownOptionSet(name)
    for entity, definition in draft.entities.items():
        for item in definition.attributes:
            if item.attribute.options is None and item.attribute.option_set == name:
                raise InvalidDefinition(f"{name}: {entity}.{item.attribute.logical_name} uses it.")
    draft.remove_option_set(name)


def _forget_target(draft: Draft, entity: str, target: str) -> None:
    """Remove the target from all lookups of an entity, with the relationships to it."""
    definition = draft.entities[entity]
    attributes = tuple(
        changed(
            item,
            attribute=changed(
                item.attribute, targets=tuple(t for t in item.attribute.targets if t != target)
            ),
        )
        if target in item.attribute.targets
        else item
        for item in definition.attributes
    )
    relationships = tuple(r for r in definition.relationships if r.referenced != target)
    if (attributes, relationships) != (definition.attributes, definition.relationships):
        draft.put_entity(changed(definition, attributes=attributes, relationships=relationships))
