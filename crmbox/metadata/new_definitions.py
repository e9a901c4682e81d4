"""New entities, attributes and many-to-many relationships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

from crmbox.engine import tables as schema
from crmbox.engine.definitions import AttributeDefinition, EntityDefinition, Ownership
from crmbox.engine.names import check_logical, physical
from crmbox.metadata import engine_attributes
from crmbox.metadata.draft import Draft
from crmbox.metadata.physical_columns import NO_EXTRAS, Extras, Placing
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
    is_view: bool = False,
) -> None:
    """Add a new entity to the draft. Raises InvalidDefinition."""
    name = check_logical(entity.logical_name)
    if name in draft.entities:
        raise InvalidDefinition(f"The entity {name!r} exists already.")
    # The definition: the attributes with their columns, and the relationships.
    all_attributes = tuple(_all_attributes(entity, attributes, ownership, has_states))
    table = physical(name, draft.tables, prefix=TABLE_PREFIX)
    placing = Placing(draft.dialect, set())
    definition = EntityDefinition(
        entity,
        table,
        ownership,
        tuple(placing.place(attribute, extras) for attribute in all_attributes),
        key_indexes={key.name: schema.index_name(table, ("key", key.name)) for key in entity.keys},
        schema_name=extras.schema_name,
        is_view=is_view,
    )
    if ownership is not Ownership.NONE:
        relationships = (*relationships, *engine_attributes.audit_relationships(name, ownership))
    draft.put_entity(_with_relationships(definition, relationships))
    if is_view:
        # `attach_activities` makes the view when all entities that it shows are known.
        draft.tables.add(table)
        return
    keys = (schema.create_key(definition, key) for key in entity.keys)
    draft.make_table(table, (*schema.create_table(definition, draft.dialect), *keys))


def create_attributes(
    draft: Draft,
    entity: str,
    attributes: Sequence[Attribute],
    relationships: Sequence[Relationship],
    extras: Extras,
) -> None:
    """Add new attributes of an entity to the draft. Raises InvalidDefinition.

    Columns that deleted attributes have left (`spare`) are used again before new ones are made.
    """
    definition = draft.entity(entity)
    present = {item.attribute.logical_name for item in definition.attributes}
    for attribute in attributes:
        if attribute.logical_name in present:
            raise InvalidDefinition(f"{entity}: the attribute {attribute.logical_name!r} exists already.")
    names_in_use = {name for item in definition.attributes for name in _column_names(item)}
    placing = Placing(
        draft.dialect, names_in_use | {spare.name for spare in definition.spare}, definition.spare
    )
    added = tuple(placing.place(attribute, extras) for attribute in attributes)
    # Placing takes the columns that it uses again out of its list. They are in the table already.
    reused = [spare.name for spare in definition.spare if spare not in placing.spare]
    definition = changed(definition, attributes=(*definition.attributes, *added), spare=tuple(placing.spare))
    draft.put_entity(_with_relationships(definition, (*definition.relationships, *relationships)))
    for item in added if not definition.is_view else ():
        draft.add_columns(definition.table, schema.new_columns(item, draft.dialect, present=reused))
        draft.run_later(schema.create_indexes(definition, item, draft.dialect))


def create_many_to_many(
    draft: Draft, relationship: Relationship, *, custom: bool, entity_set: str = "", primary_id: str = ""
) -> None:
    """Create the intersect entity of a many-to-many relationship. Raises InvalidDefinition.

    `entity_set` and `primary_id` are names for it from the source; empty: names of the usual form.
    """
    if relationship.intersect is None:
        raise InvalidDefinition(
            f"{relationship.name}: a many-to-many relationship names its intersect entity."
        )
    ends = [draft.entity(relationship.referenced), draft.entity(relationship.referencing)]
    name = relationship.intersect
    relationship = _with_pair_attributes(relationship, ends[0].entity, ends[1].entity)
    members = tuple(
        Attribute(
            attribute,
            AttributeType.UNIQUEIDENTIFIER,
            end.entity.label,
            required=RequiredLevel.APPLICATION,
            targets=(end.entity.logical_name,),
            updatable=False,
        )
        for end, attribute in zip(
            ends, relationship.pair_attributes(ends[0].entity, ends[1].entity), strict=True
        )
    )
    pair_attributes = tuple(member.logical_name for member in members)
    # The first name for the id of a pair that is none of the two ids in it.
    own_ids = (
        candidate
        for candidate in (primary_id, f"{name}id", f"{name}pairid")
        if candidate and candidate not in pair_attributes
    )
    entity = Entity(
        name,
        entity_set or (f"{name}_set" if not name.endswith("s") else name),
        Label(),
        Label(),
        primary_id=next(own_ids),
        primary_name=None,
        keys=(AlternateKey(f"{name}_pair", pair_attributes),),
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


def _with_pair_attributes(relationship: Relationship, first: Entity, second: Entity) -> Relationship:
    """Return the relationship with names for the two ids in its intersect entity.

    Usually, these are the names of the two primary ids, and the relationship stays as it is. Other names are
    needed where both ends have the same one: an entity with itself, or two activities (`activityid`).
    """
    if relationship.intersect_attributes is not None or first.primary_id != second.primary_id:
        return relationship
    if first.logical_name == second.logical_name:
        names = (f"{first.primary_id}one", f"{first.primary_id}two")
    else:
        names = (f"{first.logical_name}id", f"{second.logical_name}id")
    return changed(relationship, intersect_attributes=names)


def with_plain_relationships(
    definition: EntityDefinition, relationships: Iterable[Relationship]
) -> Iterator[Relationship]:
    """Yield `relationships`, then a plain one for each target of a lookup that has none of them.

    The name of a plain relationship is `<entity>_<lookup>_<target>`. Deleting its target empties the lookup.
    """
    entity = definition.entity.logical_name
    related_targets = set()
    for relationship in relationships:
        related_targets.add((relationship.referencing_attribute, relationship.referenced))
        yield relationship
    for item in definition.attributes:
        attribute = item.attribute
        if not attribute.type.is_reference:
            continue
        for target in attribute.targets:
            if (attribute.logical_name, target) not in related_targets:
                name = f"{entity}_{attribute.logical_name}_{target}"
                yield Relationship(
                    name,
                    referenced=target,
                    referencing=entity,
                    referencing_attribute=attribute.logical_name,
                    on_delete=Cascade.REMOVE_LINK,
                )


def _with_relationships(
    definition: EntityDefinition, relationships: Iterable[Relationship]
) -> EntityDefinition:
    """Return the definition with `relationships`, and with a plain one for each target of a lookup that none
    of them leads to.
    """
    return changed(definition, relationships=tuple(with_plain_relationships(definition, relationships)))


def _all_attributes(
    entity: Entity, attributes: Sequence[Attribute], ownership: Ownership, has_states: bool
) -> Iterator[Attribute]:
    """Yield all attributes of a new entity: the given ones, and those that the engine adds.

    The engine adds a primary key, owner and audit attributes, state and status, and the version, except for
    names that are among the given attributes.
    """
    given_names = {attribute.logical_name for attribute in attributes}
    if entity.primary_id not in given_names:
        yield engine_attributes.primary_id(entity)
    yield from attributes
    added: list[Attribute] = [] if ownership is Ownership.NONE else list(engine_attributes.audit(ownership))
    if has_states and not any(attribute.type is AttributeType.STATE for attribute in attributes):
        added.extend(engine_attributes.states(entity.logical_name))
    added.append(engine_attributes.version())
    yield from (attribute for attribute in added if attribute.logical_name not in given_names)


def _column_names(item: AttributeDefinition) -> list[str]:
    return [name for name in (item.column, item.key, item.target) if name]
