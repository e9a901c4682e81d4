"""Fits definitions to the embedded platform. What it cannot hold is left out or shortened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace as changed
from typing import Final

from crmbox.engine.definitions import EntityDefinition, Ownership
from crmbox.engine.dialects.base import Dialect
from crmbox.engine.names import check_logical
from crmbox.engine.tables import INDEXED_LENGTH
from crmbox.importing.fitted_option_sets import (
    STATE,
    STATUS,
    fitted_option_set,
    is_default,
    option_set_name,
    states_fit,
    with_default_status,
)
from crmbox.importing.source_entity import CannotRead, Note, SourceEntity, Verdict, left_out
from crmbox.metadata import engine_attributes
from crmbox.metadata.checks import LONGEST_MEMO, LONGEST_STRING, PLACES, UNKEYABLE
from crmbox.metadata.physical_columns import DEFAULT_LENGTHS, columns_of
from crmclient.errors import InvalidDefinition
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Entity,
    RequiredLevel,
)

NAME: Final = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
"""A name of an entity set or relationship that can stand in a URL."""

_LONGEST: Final = {AttributeType.STRING: LONGEST_STRING, AttributeType.MEMO: LONGEST_MEMO}


_OWNER: Final = "ownerid"


def fitted(source_entity: SourceEntity, dialect: Dialect, present: EntityDefinition | None) -> SourceEntity:
    """Return the entity as the embedded platform can hold it. Its notes say what is shortened or left out.

    The primary id is left out without a note: the platform adds it. `present` is the entity that exists under
    the name already; its table keeps its columns. Raises CannotRead for an entity whose own names cannot be
    used.
    """
    _check_names(source_entity)
    notes = list(source_entity.notes)
    # Of these, a source only gives the labels.
    engine = engine_attributes.by_name(source_entity.ownership)
    fitting = [
        _attribute(attribute, source_entity, engine, notes)
        for attribute in _with_valid_names(source_entity, engine, notes)
        if attribute.logical_name != source_entity.entity.primary_id
    ]
    # The source's states are left out when they do not fit. `has_states` below stays true, so that the
    # platform adds its own states.
    if not states_fit({attribute.logical_name: attribute for attribute in fitting}):
        fitting = [
            attribute
            for attribute in fitting
            if attribute.type not in (AttributeType.STATE, AttributeType.STATUS)
        ]
    attributes = {attribute.logical_name: attribute for attribute in fitting}
    if STATE in attributes:
        attributes[STATE] = with_default_status(attributes[STATE], attributes)
    entity = _entity(source_entity.entity, attributes, notes)
    # A table has room for so many columns only.
    for name in _attributes_without_room(entity, attributes, dialect, present):
        del attributes[name]
        reason = (
            f"The table would have more columns than {dialect.name} takes in one, {dialect.most_columns:,}."
        )
        notes.append(left_out(f"{source_entity.name}.{name}", reason))
    for name, attribute in attributes.items():
        attributes[name] = changed(
            attribute, is_primary_id=False, is_primary_name=name == entity.primary_name
        )
    return changed(
        source_entity,
        entity=entity,
        attributes=tuple(attributes.values()),
        has_states=source_entity.has_states
        or any(attribute.type is AttributeType.STATE for attribute in source_entity.attributes),
        relationships=tuple(
            relationship
            for relationship in source_entity.relationships
            if relationship.referencing_attribute not in engine
        ),
        option_sets=tuple(fitted_option_set(option_set, notes) for option_set in source_entity.option_sets),
        defaults={
            name: value
            for name, value in source_entity.defaults.items()
            if is_default(value, attributes.get(name), source_entity)
        },
        notes=tuple(notes),
    )


def _check_names(source_entity: SourceEntity) -> None:
    """Check the names that stand in URLs and those of tables. Raises CannotRead."""
    for name in (source_entity.name, source_entity.entity.entity_set):
        if not NAME.fullmatch(name):
            raise CannotRead(f"It has {name!r} for a name, which cannot stand in a URL.")
    try:
        check_logical(source_entity.name)
        check_logical(source_entity.entity.primary_id)
    except InvalidDefinition as error:
        raise CannotRead(str(error)) from None
    # Whatever the entity's own ownership: one that users own has all attributes that the engine fills in.
    if source_entity.entity.primary_id in engine_attributes.by_name(Ownership.USER):
        raise CannotRead(
            f"Its id is called {source_entity.entity.primary_id}, which the platform fills in itself."
        )


def _with_valid_names(
    source_entity: SourceEntity, engine: Mapping[str, Attribute], notes: list[Note]
) -> Iterator[Attribute]:
    """Yield the attributes with a valid name, each name once. Leave a note for each other one."""
    names: set[str] = set()
    for attribute in source_entity.attributes:
        name = attribute.logical_name
        try:
            check_logical(name)
        except InvalidDefinition as error:
            notes.append(left_out(f"{source_entity.name}.{name}", str(error)))
            continue
        if name == _OWNER and name not in engine:
            reason = "The platform keeps a record's owner under this name, and these records have none."
            notes.append(left_out(f"{source_entity.name}.{name}", reason))
            continue
        if name in names:
            notes.append(
                left_out(f"{source_entity.name}.{name}", "It is described twice. The first is made.")
            )
            continue
        names.add(name)
        yield attribute


def _attribute(
    attribute: Attribute, source_entity: SourceEntity, engine: Mapping[str, Attribute], notes: list[Note]
) -> Attribute:
    """Return an attribute within the platform's limits. Add a note for each limit that changes.

    `engine` are the attributes that the platform fills in itself. One of these stays as the platform defines
    it, and only gets the labels of the source.
    """
    name = attribute.logical_name
    if (engine_attribute := engine.get(name)) is not None:
        return changed(engine_attribute, label=attribute.label, description=attribute.description)
    subject = f"{source_entity.name}.{name}"
    longest = _LONGEST.get(attribute.type)
    length = attribute.max_length
    if longest is not None:
        length = min(max(length or DEFAULT_LENGTHS[attribute.type], 1), longest)
        if (attribute.max_length or 0) > longest:
            reason = (
                f"Its length goes from {attribute.max_length:,} to {longest:,} characters, the most there is."
            )
            notes.append(Note(Verdict.SHORTENED, subject, reason))
    places = PLACES.get(attribute.type)
    precision = attribute.precision if places is not None else None
    if places is not None and precision is not None:
        precision = min(max(precision, 0), places)
        if precision < (attribute.precision or 0):
            reason = f"It has {precision} decimal places, the most there is, and not {attribute.precision}."
            notes.append(Note(Verdict.SHORTENED, subject, reason))
    limits = attribute.minimum, attribute.maximum
    if limits[0] is not None and limits[1] is not None and limits[0] > limits[1]:
        notes.append(Note(Verdict.CHANGED, subject, "It has no limits: the minimum lies above the maximum."))
        limits = None, None
    return changed(
        attribute,
        max_length=length,
        precision=precision,
        minimum=limits[0],
        maximum=limits[1],
        options=None if attribute.options is None else fitted_option_set(attribute.options, notes, subject),
        option_set=None if attribute.option_set is None else option_set_name(attribute.option_set),
        required=_required_level(attribute),
    )


def _required_level(attribute: Attribute) -> RequiredLevel:
    """Return the level without what Dataverse requires as a system and fills in itself: here nobody would. A
    state is filled in here, too, and no record is without one.
    """
    if attribute.required is RequiredLevel.SYSTEM and attribute.type is not AttributeType.STATE:
        return RequiredLevel.NONE
    return attribute.required


def _entity(entity: Entity, attributes: Mapping[str, Attribute], notes: list[Note]) -> Entity:
    """Return the entity without a primary name and keys that its attributes do not allow.

    Add a note for each key that is left out.
    """
    primary_name_attribute = attributes.get(entity.primary_name or "")
    is_named = primary_name_attribute is not None and primary_name_attribute.type is AttributeType.STRING
    keys: list[AlternateKey] = []
    for key in entity.keys:
        reason = why_no_key(key, attributes, keys, entity.primary_id)
        if reason is None:
            keys.append(key)
        else:
            notes.append(left_out(f"{entity.logical_name}: key {', '.join(key.attributes)}", reason))
    return changed(entity, primary_name=entity.primary_name if is_named else None, keys=tuple(keys))


def why_no_key(
    key: AlternateKey, attributes: Mapping[str, Attribute], others: Iterable[AlternateKey], primary_id: str
) -> str | None:
    """Return why a key cannot be created; None when it can.

    `attributes` are the entity's by name, and `others` the keys that there are already.
    """
    if any(other.attributes == key.attributes or other.name == key.name for other in others):
        return "There is another key of the same attributes or name."
    if primary_id in key.attributes:
        return f"It holds the record's id {primary_id}, which is unique by itself."
    members = [attributes.get(name) for name in key.attributes]
    if not members or any(member is None for member in members) or len(set(key.attributes)) < len(members):
        return "An attribute of the key is not there."
    if any(member.type in UNKEYABLE for member in members if member is not None):
        return "An attribute of the key is of a type that cannot be part of one."
    if sum(member.max_length or 0 for member in members if member is not None) > INDEXED_LENGTH:
        return f"Its texts have more than {INDEXED_LENGTH} characters together."
    return None


def _attributes_without_room(
    entity: Entity,
    attributes: Mapping[str, Attribute],
    dialect: Dialect,
    present: EntityDefinition | None,
) -> list[str]:
    """Return the names of the new attributes for which the table has no columns left.

    The name, state, status and keys get columns first, then lookups, then the others in their order.
    `present` is the entity that exists already: its attributes keep their columns.
    """
    existing = () if present is None else present.attributes
    existing_names = {item.attribute.logical_name for item in existing}
    needed = {entity.primary_name, STATE, STATUS, *(name for key in entity.keys for name in key.attributes)}
    order = sorted(
        attributes.values(),
        key=lambda attribute: (attribute.logical_name not in needed, not attribute.type.is_reference),
    )
    room = dialect.most_columns - sum(columns_of(item.attribute) for item in existing)
    without_room = []
    for attribute in order:
        if attribute.logical_name in existing_names:
            continue
        room -= columns_of(attribute)
        if room < 0:
            without_room.append(attribute.logical_name)
    return without_room
