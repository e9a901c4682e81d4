"""New entities, attributes and many-to-many relationships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

from crmbox.engine import tables as schema
from crmbox.engine.definitions import AttributeDefinition, EntityDefinition, Ownership
from crmbox.engine.names import check_logical, physical
from crmbox.metadata import common
from crmbox.metadata.draft import Draft
from crmbox.metadata.placing import NO_EXTRAS, Extras, Placing
from crmclient.errors import InvalidDefinition
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Label,
    Relationship,
    RequiredLevel,
)

TABLE_PREFIX = "e_"


def create_entity(
    draft: Draft,
    entity: Entity,
    attributes: Sequence[Attribute],
    relationships: Sequence[Relationship],
    *,
    ownership: Ownership,
    has_states: bool,
    extras: Extras,
) -> None:
    name = check_logical(entity.logical_name)
    if name in draft.entities:
        raise InvalidDefinition(f"The entity {name!r} exists already.")
    complete = tuple(_complete(entity, attributes, ownership, has_states))
    table = physical(name, draft.tables, prefix=TABLE_PREFIX)
    placing = Placing(draft.dialect, set())
    definition = EntityDefinition(
        entity,
        table,
        ownership,
        tuple(placing.place(attribute, extras) for attribute in complete),
        key_indexes={key.name: schema.index_name(table, ("key", key.name)) for key in entity.keys},
        schema_name=extras.schema_name,
    )
    if ownership is not Ownership.NONE:
        relationships = (*relationships, *common.audit_relationships(name, ownership))
    draft.put_entity(_related(definition, relationships))
    keys = (schema.create_key(definition, key) for key in entity.keys)
    draft.make_table(table, (*schema.create_table(definition, draft.dialect), *keys))


def create_attributes(
    draft: Draft,
    entity: str,
    attributes: Sequence[Attribute],
    relationships: Sequence[Relationship],
    extras: Extras,
) -> None:
    definition = draft.entity(entity)
    present = {item.attribute.logical_name for item in definition.attributes}
    for attribute in attributes:
        if attribute.logical_name in present:
            raise InvalidDefinition(f"{entity}: the attribute {attribute.logical_name!r} exists already.")
    taken = {name for item in definition.attributes for name in _columns(item)}
    placing = Placing(draft.dialect, taken | {spare.name for spare in definition.spare}, definition.spare)
    added = tuple(placing.place(attribute, extras) for attribute in attributes)
    reused = [spare.name for spare in definition.spare if spare not in placing.spare]
    definition = changed(definition, attributes=(*definition.attributes, *added), spare=tuple(placing.spare))
    draft.put_entity(_related(definition, (*definition.relationships, *relationships)))
    for item in added:
        draft.run(schema.add_columns(definition, item, draft.dialect, spare=reused))


def create_many_to_many(
    draft: Draft, relationship: Relationship, *, custom: bool, entity_set: str = "", primary_id: str = ""
) -> None:
    """Make the intersect entity that a many-to-many relationship names."""
    if relationship.intersect is None:
        raise InvalidDefinition(
            f"{relationship.name}: a many-to-many relationship names its intersect entity."
        )
    ends = [draft.entity(relationship.referenced), draft.entity(relationship.referencing)]
    if ends[0] is ends[1]:
        raise InvalidDefinition(f"{relationship.name}: an entity cannot be many-to-many with itself.")
    name = relationship.intersect
    members = tuple(
        Attribute(
            end.entity.primary_id,
            AttributeType.UNIQUEIDENTIFIER,
            end.entity.label,
            required=RequiredLevel.APPLICATION,
            targets=(end.entity.logical_name,),
            updatable=False,
        )
        for end in ends
    )
    entity = Entity(
        name,
        entity_set or (f"{name}_set" if not name.endswith("s") else name),
        Label(),
        Label(),
        primary_id=primary_id or f"{name}id",
        primary_name=None,
        keys=(AlternateKey(f"{name}_pair", tuple(member.logical_name for member in members)),),
        is_intersect=True,
        is_custom=custom,
    )
    create_entity(
        draft,
        entity,
        members,
        (relationship,),
        ownership=Ownership.NONE,
        has_states=False,
        extras=NO_EXTRAS,
    )


def relate(definition: EntityDefinition, given: Iterable[Relationship]) -> Iterator[Relationship]:
    """The given relationships, and a plain one for every target of a lookup that has none."""
    entity = definition.entity.logical_name
    found = set()
    for relationship in given:
        found.add((relationship.referencing_attribute, relationship.referenced))
        yield relationship
    for item in definition.attributes:
        attribute = item.attribute
        if not attribute.type.is_reference:
            continue
        for target in attribute.targets:
            if (attribute.logical_name, target) not in found:
                name = f"{entity}_{attribute.logical_name}_{target}"
                yield Relationship(
                    name, target, entity, attribute.logical_name, on_delete=Cascade.REMOVE_LINK
                )


def _related(definition: EntityDefinition, given: Iterable[Relationship]) -> EntityDefinition:
    return changed(definition, relationships=tuple(relate(definition, given)))


def _complete(
    entity: Entity, attributes: Sequence[Attribute], ownership: Ownership, has_states: bool
) -> Iterator[Attribute]:
    """The given attributes among those that every entity of the kind has."""
    given = {attribute.logical_name for attribute in attributes}
    if entity.primary_id not in given:
        yield common.primary_id(entity)
    yield from attributes
    engine: list[Attribute] = [] if ownership is Ownership.NONE else list(common.audit(ownership))
    if has_states and not any(attribute.type is AttributeType.STATE for attribute in attributes):
        engine.extend(common.states(entity.logical_name))
    engine.append(common.version())
    yield from (attribute for attribute in engine if attribute.logical_name not in given)


def _columns(item: AttributeDefinition) -> list[str]:
    return [name for name in (item.column, item.key, item.target) if name]
