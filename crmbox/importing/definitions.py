"""Definitions as Dataverse's JSON has them: of an entity with its attributes, or of a global option set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from crmbox.engine.definitions import Ownership
from crmbox.importing.found import CannotRead, Described, Found, Note, Pair, left_out
from crmclient.dataverse.metadata import reading
from crmclient.metadata import Attribute, Label, OptionSet

_OWNERS: Final = {"UserOwned": Ownership.USER, "TeamOwned": Ownership.USER, "None": Ownership.NONE}


def is_option_set(item: Mapping[str, Any]) -> bool:
    return "Options" in item and "Name" in item and "LogicalName" not in item


def option_set(item: Mapping[str, Any]) -> OptionSet:
    """A global option set. Raises CannotRead."""
    try:
        return reading.option_set({**item, "IsGlobal": True}, None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _strange(item.get("Name"), error) from None


def entity(item: Mapping[str, Any]) -> Described | Note | None:
    """A note for an entity that cannot be reached; None for one that comes with its relationship.

    Raises CannotRead.
    """
    name, attributes = item.get("LogicalName"), item.get("Attributes")
    if not isinstance(name, str) or not isinstance(attributes, list):
        raise CannotRead(
            "The file holds other things than entities with their attributes: it should be the answer to "
            "RetrieveMetadataChanges, or to EntityDefinitions with Attributes expanded."
        )
    if item.get("IsIntersect"):
        return None
    if not item.get("EntitySetName") or not item.get("PrimaryIdAttribute"):
        return left_out(name, "It has no entity set or no id, so its records cannot be reached.")
    return Described(name, len(attributes), partial(_read, item))


def _read(item: Mapping[str, Any]) -> Found:
    try:
        return _found(item)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _strange(item.get("LogicalName"), error) from None


def _found(item: Mapping[str, Any]) -> Found:
    described = reading.entity(item)
    assert described is not None  # noqa: S101  for the type checker: looked at before
    name = described.logical_name
    listed = [each for each in item["Attributes"] if not each.get("AttributeOf")]
    choices = {each["LogicalName"]: _options(each, name) for each in listed}
    read = ((each, reading.attribute(each, name, choices)) for each in listed)
    kept = [(each, attribute) for each, attribute in read]
    attributes = {each["LogicalName"]: (each, attribute) for each, attribute in kept if attribute is not None}
    unlike = [str(each["LogicalName"]) for each, attribute in kept if attribute is None]
    relationships = list(reading.relationships(item))
    return Found(
        described,
        tuple(attribute for _, attribute in attributes.values()),
        tuple(
            each
            for each in relationships
            if each.referencing == name and each.referencing_attribute in attributes
        ),
        tuple(Pair(each) for each in relationships if each.intersect is not None),
        tuple(found for found in choices.values() if found.entity is None and found.options),
        ownership=_OWNERS.get(str(item.get("OwnershipType")), Ownership.ORGANIZATION),
        schema_name=item.get("SchemaName"),
        schema_names={key: str(each.get("SchemaName") or key) for key, (each, _) in attributes.items()},
        defaults=dict(_defaults(attributes)),
        notes=tuple(
            left_out(f"{name}.{each}", "The CRM in the box has no attributes of its type.") for each in unlike
        ),
    )


def _options(item: Mapping[str, Any], entity: str) -> OptionSet:
    """The option set of a choice, without options where the file has none of it."""
    raw = item.get("GlobalOptionSet") or item.get("OptionSet")
    if isinstance(raw, Mapping) and raw.get("Name"):
        return reading.option_set(raw, entity)
    return OptionSet(f"{entity}_{item['LogicalName']}", Label(), (), entity=entity)


def _defaults(
    attributes: Mapping[str, tuple[Mapping[str, Any], Attribute]],
) -> Iterator[tuple[str, bool | int]]:
    for name, (item, _) in attributes.items():
        if isinstance(item.get("DefaultValue"), bool):
            yield name, item["DefaultValue"]
        elif type(item.get("DefaultFormValue")) is int:
            yield name, item["DefaultFormValue"]


def _strange(name: object, error: Exception) -> CannotRead:
    return CannotRead(f"The definition of {name!r} is not as Dataverse writes it: {error!r}.")
