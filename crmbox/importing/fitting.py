"""Definitions as the embedded platform can hold them. What it cannot is left out, or cut down to its size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace as changed
from typing import Final

from crmbox.engine.definitions import Ownership
from crmbox.engine.tables import INDEXED_LENGTH
from crmbox.importing.found import CannotRead, Found
from crmbox.metadata import common
from crmbox.metadata.checks import LONGEST_MEMO, LONGEST_STRING, PLACES, UNKEYABLE
from crmbox.metadata.placing import DEFAULT_LENGTHS
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Entity,
    Option,
    OptionSet,
    RequiredLevel,
)

STATE, STATUS = "statecode", "statuscode"
ENGINE: Final = {each.logical_name: each for each in (*common.audit(Ownership.USER), common.version())}
"""The attributes that the platform fills in itself: of the file only their labels are taken."""

_NAME: Final = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
_LONGEST: Final = {AttributeType.STRING: LONGEST_STRING, AttributeType.MEMO: LONGEST_MEMO}


def fitted(found: Found) -> Found:
    """The entity without its primary id, which the platform adds, and without states that do not fit.

    Raises CannotRead.
    """
    _check_names(found)
    primary_id = found.entity.primary_id
    kept = [_attribute(each) for each in found.attributes if each.logical_name != primary_id]
    if not _states_fit({each.logical_name: each for each in kept}):
        kept = [each for each in kept if each.type not in (AttributeType.STATE, AttributeType.STATUS)]
    attributes = {each.logical_name: _with_default_status(each, kept) for each in kept}
    entity = _entity(found.entity, attributes)
    for name, attribute in attributes.items():
        attributes[name] = changed(
            attribute, is_primary_id=False, is_primary_name=name == entity.primary_name
        )
    return changed(
        found,
        entity=entity,
        attributes=tuple(attributes.values()),
        has_states=any(each.type is AttributeType.STATE for each in found.attributes),
        relationships=tuple(each for each in found.relationships if each.referencing_attribute not in ENGINE),
        defaults={
            name: value
            for name, value in found.defaults.items()
            if _is_default(value, attributes.get(name), found)
        },
    )


def _check_names(found: Found) -> None:
    """Names that stand in URLs. Those of tables and columns the platform checks itself. Raises CannotRead."""
    relationships = (*found.relationships, *found.pairs)
    for name in (found.entity.entity_set, found.name, *(each.name for each in relationships)):
        if not _NAME.fullmatch(name):
            raise CannotRead(f"The definition of {found.name!r} has {name!r} for a name.")


def _attribute(attribute: Attribute) -> Attribute:
    """An attribute of the engine's with the file's labels; any other within the platform's limits."""
    if (own := ENGINE.get(attribute.logical_name)) is not None:
        return changed(own, label=attribute.label, description=attribute.description)
    longest = _LONGEST.get(attribute.type)
    length = attribute.max_length
    if longest is not None:
        length = min(max(length or DEFAULT_LENGTHS[attribute.type], 1), longest)
    places = PLACES.get(attribute.type)
    precision = attribute.precision
    if places is not None and precision is not None:
        precision = min(max(precision, 0), places)
    limits = attribute.minimum, attribute.maximum
    if None not in limits and limits[0] > limits[1]:  # type: ignore[operator]
        limits = None, None
    return changed(
        attribute,
        max_length=length,
        precision=precision,
        minimum=limits[0],
        maximum=limits[1],
        # What Dataverse requires it fills in itself; here nobody would.
        required=RequiredLevel.NONE if attribute.required is RequiredLevel.SYSTEM else attribute.required,
    )


def _entity(entity: Entity, attributes: Mapping[str, Attribute]) -> Entity:
    named = attributes.get(entity.primary_name or "")
    is_named = named is not None and named.type is AttributeType.STRING
    return changed(
        entity,
        primary_name=entity.primary_name if is_named else None,
        keys=tuple(each for each in entity.keys if _is_key(each, attributes)),
    )


def _is_key(key: AlternateKey, attributes: Mapping[str, Attribute]) -> bool:
    members = [attributes.get(name) for name in key.attributes]
    if not members or any(each is None or each.type in UNKEYABLE for each in members):
        return False
    return sum(each.max_length or 0 for each in members if each is not None) <= INDEXED_LENGTH


def _states_fit(attributes: Mapping[str, Attribute]) -> bool:
    """Whether states and statuses have options, each state with its status: the platform's own otherwise."""
    state, status = attributes.get(STATE), attributes.get(STATUS)
    states = _options(state, AttributeType.STATE)
    statuses = _options(status, AttributeType.STATUS)
    return bool(states) and {each.value for each in states} == {each.state for each in statuses}


def _options(attribute: Attribute | None, kind: AttributeType) -> tuple[Option, ...]:
    if attribute is None or attribute.type is not kind or attribute.options is None:
        return ()
    return attribute.options.options


def _with_default_status(attribute: Attribute, among: list[Attribute]) -> Attribute:
    """A state's options each with the status that a record takes with it: the first, unless it is said."""
    if attribute.type is not AttributeType.STATE or attribute.options is None:
        return attribute
    statuses = next(_options(each, AttributeType.STATUS) for each in among if each.logical_name == STATUS)
    first = {each.state: each.value for each in reversed(statuses)}
    known = {each.value for each in statuses}
    options = tuple(
        each if each.default_status in known else changed(each, default_status=first[each.value])
        for each in attribute.options.options
    )
    return changed(attribute, options=changed(attribute.options, options=options))


def _is_default(value: bool | int, attribute: Attribute | None, found: Found) -> bool:
    if attribute is None:
        return False
    if attribute.type is not AttributeType.PICKLIST:
        return attribute.type is AttributeType.BOOLEAN and isinstance(value, bool)
    own = attribute.options or next(_named(found.option_sets, attribute.option_set), None)
    return own is not None and value in {each.value for each in own.options}


def _named(option_sets: tuple[OptionSet, ...], name: str | None) -> Iterator[OptionSet]:
    return (each for each in option_sets if each.name == name)
