"""Reads the JSON definitions of Dataverse: an entity with its attributes, or a global option set."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import partial
from typing import Any, Final

from crmbox.engine.definitions import Ownership
from crmbox.importing.source_entity import (
    CannotRead,
    Described,
    Intersect,
    ManyToMany,
    Note,
    SourceEntity,
    left_out,
)
from crmclient.dataverse.metadata import metadata_json
from crmclient.metadata import Attribute, Label, OptionSet

_OWNERS: Final = {"UserOwned": Ownership.USER, "TeamOwned": Ownership.USER, "None": Ownership.NONE}


def is_option_set(item: Mapping[str, Any]) -> bool:
    return "Options" in item and "Name" in item and "LogicalName" not in item


def option_set(item: Mapping[str, Any]) -> OptionSet:
    """Read a global option set. Raises CannotRead."""
    try:
        return metadata_json.option_set({**item, "IsGlobal": True}, None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(item.get("Name"), error) from None


def entity(item: Mapping[str, Any]) -> Described | Intersect | Note:
    """Return an entity's description, whose details are read when they are needed.

    Return a note for an entity without an entity set or an id, and only the names of an intersect entity: it
    is created with its relationship. Raises CannotRead when the object is not an entity with attributes.
    """
    if isinstance(refusal := item.get("error"), Mapping):
        raise CannotRead(
            f"The file holds a refusal and no metadata. The organisation says: {refusal.get('message')}"
        )
    name, attributes = item.get("LogicalName"), item.get("Attributes")
    if not isinstance(name, str) or not isinstance(attributes, list):
        raise CannotRead(
            "The file holds other things than entities with their attributes: it should be the answer to "
            "RetrieveMetadataChanges, or to EntityDefinitions with Attributes expanded."
        )
    if item.get("IsIntersect"):
        return Intersect(name, item.get("EntitySetName") or "", item.get("PrimaryIdAttribute") or "")
    if not item.get("EntitySetName") or not item.get("PrimaryIdAttribute"):
        return left_out(name, "It has no entity set or no id, so its records cannot be reached.")
    return Described(name, len(attributes), partial(_read, item))


def _read(item: Mapping[str, Any]) -> SourceEntity:
    """Read an entity. Raises CannotRead for an object that is not as Dataverse writes it."""
    try:
        return _read_entity(item)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(item.get("LogicalName"), error) from None


def _read_entity(item: Mapping[str, Any]) -> SourceEntity:
    """Read an entity with its attributes, relationships and option sets. Leave a note for each attribute of
    an unsupported type.
    """
    # Entity and attributes are read as from Dataverse's API, whose JSON the file has.
    described = metadata_json.entity(item)
    assert described is not None  # noqa: S101  for the type checker: `entity` has looked at it
    name = described.logical_name
    # `AttributeOf` marks a part of another attribute, such as the name that a lookup shows.
    raw_attributes = [raw for raw in item["Attributes"] if not raw.get("AttributeOf")]
    choices = {raw["LogicalName"]: _options(raw, name) for raw in raw_attributes}
    attributes: dict[str, Attribute] = {}
    raw_by_name: dict[str, Mapping[str, Any]] = {}
    notes: list[Note] = []
    for raw in raw_attributes:
        attribute_name = raw["LogicalName"]
        attribute = metadata_json.attribute(raw, name, choices)
        if attribute is None:
            reason = "The CRM in the box has no attributes of its type."
            notes.append(left_out(f"{name}.{attribute_name}", reason))
        else:
            attributes[attribute_name] = attribute
            raw_by_name[attribute_name] = raw
    relationships = list(metadata_json.relationships(item))
    return SourceEntity(
        entity=described,
        attributes=tuple(attributes.values()),
        relationships=tuple(
            relationship
            for relationship in relationships
            if relationship.referencing == name and relationship.referencing_attribute in attributes
        ),
        many_to_many=tuple(
            ManyToMany(relationship) for relationship in relationships if relationship.intersect is not None
        ),
        option_sets=tuple(choice for choice in choices.values() if choice.entity is None and choice.options),
        ownership=_OWNERS.get(str(item.get("OwnershipType")), Ownership.ORGANIZATION),
        schema_name=item.get("SchemaName"),
        schema_names={
            **{key: str(raw.get("SchemaName") or key) for key, raw in raw_by_name.items()},
            **dict(_spelled_as_navigations(metadata_json.navigation(item), attributes)),
        },
        defaults=dict(_defaults(raw_by_name)),
        notes=tuple(notes),
    )


def _spelled_as_navigations(
    navigation: Mapping[str, Mapping[str, str]], attributes: Container[str]
) -> Iterator[tuple[str, str]]:
    """Yield lookups as their navigation properties spell them: `parentcustomerid` of ParentCustomerId, whose
    properties are `parentcustomerid_account` and `parentcustomerid_contact`. Clients use these names.
    """
    for lookup, property_by_target in navigation.items():
        for target, name in property_by_target.items():
            spelled = name.removesuffix(f"_{target}")
            if lookup in attributes and spelled.lower() == lookup:
                yield lookup, spelled


def _options(item: Mapping[str, Any], entity: str) -> OptionSet:
    """Return the option set of a choice; an empty one when the file does not describe it."""
    raw = item.get("GlobalOptionSet") or item.get("OptionSet")
    if isinstance(raw, Mapping) and raw.get("Name"):
        return metadata_json.option_set(raw, entity)
    return OptionSet(f"{entity}_{item['LogicalName']}", Label(), (), entity=entity)


def _defaults(raw_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, bool | int]]:
    """Yield the attributes with a default value, each with that.

    A choice without one has -1, which is no option: `fitted` leaves it out.
    """
    for name, item in raw_by_name.items():
        if isinstance(item.get("DefaultValue"), bool):
            yield name, item["DefaultValue"]
        elif type(item.get("DefaultFormValue")) is int:
            yield name, item["DefaultFormValue"]


def _unreadable(name: object, error: Exception) -> CannotRead:
    return CannotRead(f"The definition of {name!r} is not as Dataverse writes it: {error!r}.")
