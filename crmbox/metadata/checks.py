"""Checks of changed definitions. Every problem is an InvalidDefinition that says what to correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from crmbox.engine.definitions import AttributeDefinition, EntityDefinition
from crmbox.engine.money import DECIMAL_PLACES, MONEY_PLACES
from crmbox.engine.names import check_logical
from crmbox.engine.tables import INDEXED_LENGTH
from crmclient.errors import InvalidDefinition
from crmclient.metadata import Attribute, AttributeType, OptionSet
from crmclient.parties import PART_NUMBERS

LONGEST_STRING = 4_000
LONGEST_MEMO = 1_048_576

UNKEYABLE = frozenset(
    {
        AttributeType.MEMO,
        AttributeType.MULTISELECT,
        AttributeType.FILE,
        AttributeType.IMAGE,
        AttributeType.DOUBLE,
        AttributeType.PARTYLIST,
    }
)
PLACES = {AttributeType.MONEY: MONEY_PLACES, AttributeType.DECIMAL: DECIMAL_PLACES, AttributeType.DOUBLE: 10}


@dataclass(frozen=True, slots=True)
class AllDefinitions:
    """All definitions as they will be after the change."""

    entities: Mapping[str, EntityDefinition]
    option_sets: Mapping[str, OptionSet]


def check_entity(definition: EntityDefinition, metadata: AllDefinitions) -> None:
    """Check that a definition fits together and with all other definitions. Raises InvalidDefinition."""
    entity = definition.entity
    name = check_logical(entity.logical_name)
    attributes = {item.attribute.logical_name: item for item in definition.attributes}
    _check_no_repeats(f"{name}: attribute", [item.attribute.logical_name for item in definition.attributes])
    if entity.primary_name is not None:
        primary = attributes.get(entity.primary_name)
        if primary is None or primary.attribute.type is not AttributeType.STRING:
            raise InvalidDefinition(f"{name}: the primary name {entity.primary_name!r} is no text attribute.")
    for item in definition.attributes:
        _check_attribute(name, item, attributes, metadata)
    _check_states(name, attributes)
    _check_keys(definition, attributes)
    for relationship in definition.relationships:
        for end in (relationship.referenced, relationship.referencing):
            if end not in metadata.entities:
                raise InvalidDefinition(f"{relationship.name}: there is no entity {end!r}.")


def check_option_set(option_set: OptionSet) -> None:
    """Check the name of an option set and the values of its options. Raises InvalidDefinition."""
    check_logical(option_set.name)
    _check_no_repeats(f"{option_set.name}: option", [option.value for option in option_set.options])
    for option in option_set.options:
        if not -(2**31) <= option.value < 2**31:
            raise InvalidDefinition(f"{option_set.name}: {option.value} is no 32-bit number.")


def check_names_are_unique(metadata: AllDefinitions) -> None:
    """Check that entity set names and relationship names are unique in the whole platform."""
    definitions = metadata.entities.values()
    _check_no_repeats("entity set", [definition.entity.entity_set for definition in definitions])
    names = [relationship.name for definition in definitions for relationship in definition.relationships]
    _check_no_repeats("relationship", names)


def _check_attribute(
    entity: str,
    item: AttributeDefinition,
    attributes: Mapping[str, AttributeDefinition],
    metadata: AllDefinitions,
) -> None:
    """Check one attribute of `entity`: its limits, and that what it names is there. Raises InvalidDefinition.

    `attributes` are those of the same entity, by name.
    """
    attribute = item.attribute
    place = f"{entity}.{check_logical(attribute.logical_name)}"
    _check_limits(place, attribute)
    for target in attribute.targets:
        if target not in metadata.entities:
            raise InvalidDefinition(f"{place}: there is no entity {target!r} to point at.")
    if attribute.type.holds_parties and attribute.logical_name not in PART_NUMBERS:
        raise InvalidDefinition(f"{place}: a party list is called {', '.join(PART_NUMBERS)}.")
    if attribute.type.has_options:
        _check_options(place, attribute, metadata)
    for part in item.joined_from:
        if part not in attributes or attributes[part].attribute.type is not AttributeType.STRING:
            raise InvalidDefinition(f"{place}: it is joined from {part!r}, which is no text attribute.")
    if item.file_fact is not None and item.file_fact.file not in attributes:
        raise InvalidDefinition(f"{place}: there is no file column {item.file_fact.file!r}.")
    _check_default(place, item, metadata)


def _check_limits(place: str, attribute: Attribute) -> None:
    """Check length, decimal places, minimum and maximum of an attribute. `place` names it in the error."""
    longest = {AttributeType.STRING: LONGEST_STRING, AttributeType.MEMO: LONGEST_MEMO}.get(attribute.type)
    if longest is not None and not 1 <= (attribute.max_length or 0) <= longest:
        raise InvalidDefinition(f"{place}: a length is from 1 to {longest} characters.")
    places = PLACES.get(attribute.type)
    if places is not None and attribute.precision is not None and not 0 <= attribute.precision <= places:
        raise InvalidDefinition(f"{place}: a precision is from 0 to {places} places.")
    if (
        attribute.minimum is not None
        and attribute.maximum is not None
        and attribute.minimum > attribute.maximum
    ):
        raise InvalidDefinition(f"{place}: the minimum lies above the maximum.")


def _check_options(place: str, attribute: Attribute, metadata: AllDefinitions) -> None:
    if attribute.options is not None:
        check_option_set(attribute.options)
    elif attribute.option_set not in metadata.option_sets:
        raise InvalidDefinition(f"{place}: there is no option set {attribute.option_set!r}.")


def _check_default(place: str, item: AttributeDefinition, metadata: AllDefinitions) -> None:
    """Check that a default value fits its attribute: only yes/no and choices can have one."""
    if item.default is None:
        return
    if item.attribute.type is AttributeType.BOOLEAN:
        fits = isinstance(item.default, bool)
    elif item.attribute.type is AttributeType.PICKLIST:
        options = item.attribute.options or metadata.option_sets[item.attribute.option_set or ""]
        fits = item.default in {option.value for option in options.options}
    else:
        fits = False
    if not fits:
        raise InvalidDefinition(f"{place}: {item.default!r} cannot be its default value.")


def _check_states(entity: str, attributes: Mapping[str, AttributeDefinition]) -> None:
    """Check that state and status come together, with option sets that fit each other."""
    described = [item.attribute for item in attributes.values()]
    states, statuses = (
        [attribute for attribute in described if attribute.type is type_]
        for type_ in (AttributeType.STATE, AttributeType.STATUS)
    )
    if not states and not statuses:
        return
    names = [[attribute.logical_name for attribute in of_type] for of_type in (states, statuses)]
    if names != [["statecode"], ["statuscode"]]:
        raise InvalidDefinition(f"{entity}: statecode and statuscode come together, once each.")
    if states[0].options is None or statuses[0].options is None:
        raise InvalidDefinition(f"{entity}: statecode and statuscode have option sets of their own.")
    states_with_status = {option.state for option in statuses[0].options.options}
    values = {option.value for option in states[0].options.options}
    if states_with_status != values:
        raise InvalidDefinition(f"{entity}: every state needs a status, and every status one of the states.")


def _check_keys(definition: EntityDefinition, attributes: Mapping[str, AttributeDefinition]) -> None:
    """Check that alternate keys have attributes that can be indexed, with texts short enough together."""
    entity = definition.entity
    _check_no_repeats(f"{entity.logical_name}: key", [key.name for key in entity.keys])
    for key in entity.keys:
        place = f"{entity.logical_name}: key {key.name}"
        if not key.attributes:
            raise InvalidDefinition(f"{place} has no attributes.")
        length = 0
        for name in key.attributes:
            if name not in attributes or attributes[name].attribute.type in UNKEYABLE:
                raise InvalidDefinition(f"{place}: {name!r} is no attribute that can be part of a key.")
            length += attributes[name].attribute.max_length or 0
        if length > INDEXED_LENGTH:
            raise InvalidDefinition(
                f"{place}: its texts are longer than {INDEXED_LENGTH} characters together."
            )


def _check_no_repeats(label: str, names: list[str] | list[int]) -> None:
    """Raise InvalidDefinition where a name comes twice. `label` says there what it is a name of."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidDefinition(f"{label} {repeated[0]!r} exists already.")
