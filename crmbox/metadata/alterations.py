"""Changes of labels, limits, options, targets, keys and effects of deletes. How values are stored stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

from crmbox.engine import tables as schema
from crmbox.engine.definitions import AttributeDefinition, EntityDefinition
from crmbox.metadata.draft import Draft, KeyCheck, LengthCheck
from crmbox.metadata.new_definitions import with_plain_relationships
from crmbox.metadata.physical_columns import Placing, is_polymorphic
from crmclient.errors import InvalidDefinition
from crmclient.metadata import AlternateKey, Attribute, Cascade, Entity, Relationship


def alter_entity(draft: Draft, entity: Entity) -> None:
    """Change an entity to `entity`: its labels, descriptions, the entity set's name, notes and keys.

    New keys are created, and keys that `entity` lacks are removed with their indexes. Raises
    InvalidDefinition for another primary id, primary name or intersect flag, for notes that are taken away,
    and for a new key of an entity that only shows the records of others.
    """
    definition = draft.entity(entity.logical_name)
    before = definition.entity
    if (entity.primary_id, entity.primary_name, entity.is_intersect) != (
        before.primary_id,
        before.primary_name,
        before.is_intersect,
    ):
        raise InvalidDefinition(f"{entity.logical_name}: primary id, primary name and intersect are fixed.")
    if before.has_notes and not entity.has_notes:
        raise InvalidDefinition(f"{entity.logical_name}: it may have notes already, and keeps them.")
    removed_keys = [key for key in before.keys if key not in entity.keys]
    new_keys = [key for key in entity.keys if key not in before.keys]
    indexes = {key.name: definition.key_indexes[key.name] for key in before.keys if key not in removed_keys}
    indexes.update({key.name: schema.index_name(definition.table, ("key", key.name)) for key in new_keys})
    draft.run_later(schema.drop_index(definition.key_indexes[key.name]) for key in removed_keys)
    definition = changed(definition, entity=entity, key_indexes=indexes)
    if new_keys and definition.is_view:
        raise InvalidDefinition(
            f"{entity.logical_name}: its records are those of other entities. Make the key there."
        )
    draft.put_entity(definition)
    draft.run_later(schema.create_key(definition, key) for key in new_keys)
    draft.key_checks += _key_checks(draft, definition, new_keys)


def _key_checks(
    draft: Draft, definition: EntityDefinition, keys: Iterable[AlternateKey]
) -> Iterator[KeyCheck]:
    """Yield the checks that no records repeat the values of new keys.

    A key of a new table or with a new column needs none, because there are no values yet.
    """
    # A text is compared by its comparison form, as in the index of the key.
    columns = {item.attribute.logical_name: item.key or item.column for item in definition.attributes}
    new_columns = {name for name, _ in draft.new_columns.get(definition.table, ())}
    if definition.table in draft.new_tables:
        return
    for key in keys:
        key_columns = tuple(columns[name] for name in key.attributes)
        if new_columns.isdisjoint(key_columns):
            text = f"{definition.entity.logical_name}: key {', '.join(key.attributes)}"
            yield KeyCheck(text, definition.table, key_columns)


def alter_attribute(
    draft: Draft, entity: str, attribute: Attribute, relationships: Sequence[Relationship] = ()
) -> None:
    """Change an attribute. `relationships` are those of new targets; a target without one gets a plain one.

    Raises InvalidDefinition.
    """
    definition = draft.entity(entity)
    before = draft.attribute(entity, attribute.logical_name)
    _check_unchanged(entity, before.attribute, attribute)
    length = attribute.max_length
    if length is not None and length < (before.attribute.max_length or 0):
        # Texts that exist may be longer. This is checked when the change is carried out.
        place = f"{entity}.{attribute.logical_name}"
        draft.length_checks.append(LengthCheck(place, definition.table, before.column, length))
    after = changed(before, attribute=attribute)
    # A lookup with a single target does not store the entity that it points at. Now it has to.
    if is_polymorphic(attribute) and before.target is None:
        after = _with_target_column(draft, definition, after)
    attributes = tuple(after if item is before else item for item in definition.attributes)
    definition = changed(definition, attributes=attributes)
    related = tuple(with_plain_relationships(definition, (*definition.relationships, *relationships)))
    draft.put_entity(changed(definition, relationships=related))


def alter_default(draft: Draft, entity: str, attribute: str, default: bool | int | None) -> None:
    """Change the value that a new record gets where the caller gives none."""
    definition = draft.entity(entity)
    before = draft.attribute(entity, attribute)
    attributes = tuple(
        changed(item, default=default) if item is before else item for item in definition.attributes
    )
    draft.put_entity(changed(definition, attributes=attributes))


def alter_indexes(draft: Draft, entity: str, attribute: str, *, indexed: bool, searched: bool) -> None:
    """Add or remove the index to filter and sort by (`indexed`), and that of pieces of the text (`searched`).

    Raises InvalidDefinition.
    """
    definition = draft.entity(entity)
    before = draft.attribute(entity, attribute)
    after = changed(before, indexed=indexed, searched=searched)
    if indexed and not before.indexed:
        _check_indexed(definition, before)
    if searched and before.key is None:
        raise InvalidDefinition(f"{entity}.{attribute}: only text has pieces to be found.")
    attributes = tuple(after if item is before else item for item in definition.attributes)
    draft.run_later(schema.change_indexes(definition, before, after, draft.dialect))
    draft.put_entity(changed(definition, attributes=attributes))


def _check_indexed(definition: EntityDefinition, item: AttributeDefinition) -> None:
    """Raise InvalidDefinition for an attribute that cannot have an index."""
    place = f"{definition.entity.logical_name}.{item.attribute.logical_name}"
    if definition.is_view:
        raise InvalidDefinition(
            f"{place}: its records are those of other entities. Index the attribute there."
        )
    if item.attribute.is_primary_id or schema.indexed_columns(definition, item):
        raise InvalidDefinition(f"{place}: it has an index already.")
    if not schema.can_be_indexed(item):
        raise InvalidDefinition(
            f"{place}: an index takes texts of at most {schema.INDEXED_LENGTH} characters, numbers, dates, "
            "choices and lookups."
        )


def alter_relationship(draft: Draft, relationship: Relationship) -> None:
    """Change what deleting the referenced record does. Raises InvalidDefinition for any other change."""
    definition = draft.entity(relationship.intersect or relationship.referencing)
    before = next((r for r in definition.relationships if r.name == relationship.name), None)
    if before is None:
        raise InvalidDefinition(f"There is no relationship {relationship.name!r}.")
    if changed(before, on_delete=relationship.on_delete) != relationship:
        raise InvalidDefinition(f"{relationship.name}: only what a delete does can be changed.")
    relationships = tuple(relationship if r is before else r for r in definition.relationships)
    draft.put_entity(changed(definition, relationships=relationships))


def attach_notes(draft: Draft, notes: str, regarding: str) -> None:
    """Let the lookup `regarding` of the entity `notes` point at every entity that has notes.

    Notes are deleted with their record.
    """
    if notes not in draft.entities:
        return
    definition = draft.entities[notes]
    attribute = draft.attribute(notes, regarding).attribute
    noted = sorted(name for name, item in draft.entities.items() if item.entity.has_notes)
    new_targets = [name for name in noted if name not in attribute.targets]
    if new_targets:
        relationships = (
            Relationship(f"{name}_{notes}", name, notes, regarding, on_delete=Cascade.DELETE)
            for name in new_targets
        )
        # These come first, or `alter_attribute` would make plain relationships to the new targets.
        draft.put_entity(changed(definition, relationships=(*definition.relationships, *relationships)))
        alter_attribute(draft, notes, changed(attribute, targets=(*attribute.targets, *new_targets)))


def _check_unchanged(entity: str, before: Attribute, after: Attribute) -> None:
    """Raise InvalidDefinition for a change of what is fixed: the type, primary id and name, lost targets."""
    place = f"{entity}.{after.logical_name}"
    if (before.type, before.behavior) != (after.type, after.behavior):
        raise InvalidDefinition(f"{place}: the type stays; make another attribute.")
    if (before.is_primary_id, before.is_primary_name) != (after.is_primary_id, after.is_primary_name):
        raise InvalidDefinition(f"{place}: primary id and primary name are fixed.")
    if not set(before.targets) <= set(after.targets):
        raise InvalidDefinition(f"{place}: records may point at a target already, so none can be taken away.")


def _with_target_column(
    draft: Draft, definition: EntityDefinition, item: AttributeDefinition
) -> AttributeDefinition:
    """Return the attribute, a lookup that gets a second target, with a new column for the entity of each
    value. The values that there are point at the only target so far.
    """
    # Rows that exist get the name of the only target so far as the value of the new column.
    [only_target] = draft.attribute(
        definition.entity.logical_name, item.attribute.logical_name
    ).attribute.targets
    names_in_use = {
        name for item in definition.attributes for name in (item.column, item.key, item.target) if name
    }
    placing = Placing(draft.dialect, names_in_use | {spare.name for spare in definition.spare})
    item = changed(item, target=placing.target_of(item.column))
    if definition.is_view:
        return item
    draft.add_columns(definition.table, schema.new_columns(item, draft.dialect, present=names_in_use))
    draft.statements.append((schema.fill_target(definition, item, draft.dialect), (only_target,)))
    return item
