"""Metadata as Dataverse's JSON has it, as the values of `crmclient.metadata`.

The JSON has been read exactly, and is otherwise not trusted: what is missing or of another type raises
KeyError, TypeError or ValueError, which the fetcher turns into UnexpectedAnswer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    DateTimeBehavior,
    Entity,
    Label,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)
from crmclient.parties import PART_NUMBERS, takes_addresses

KILOBYTE: Final = 1024
ACTIVE: Final = 0
"""The state that every entity has first. Dataverse does not say which states mean *inactive*: all others."""

NOTE, DOCUMENT = "annotation", "documentbody"
ACTIVITIES: Final = "activitypointer"
"""The entity through which the records of all activities are read. It takes no writes."""

_TYPES: Final = {type_.value: type_ for type_ in AttributeType}
_CASCADES: Final = {cascade.value: cascade for cascade in Cascade}


def entity(item: Mapping[str, Any]) -> Entity | None:
    """Read an entity; None for an entity without an entity set or an id, which cannot be reached."""
    if not item["EntitySetName"] or not item["PrimaryIdAttribute"]:
        return None
    keys = (AlternateKey(key["LogicalName"], tuple(key["KeyAttributes"])) for key in item.get("Keys") or ())
    return Entity(
        logical_name=item["LogicalName"],
        entity_set=item["EntitySetName"],
        label=label(item.get("DisplayName")),
        plural_label=label(item.get("DisplayCollectionName")),
        primary_id=item["PrimaryIdAttribute"],
        primary_name=item.get("PrimaryNameAttribute") or None,
        description=label(item.get("Description")),
        keys=tuple(keys),
        has_notes=bool(item.get("HasNotes")),
        is_intersect=bool(item.get("IsIntersect")),
        is_custom=bool(item.get("IsCustomEntity")),
        tracks_changes=bool(item.get("ChangeTrackingEnabled")),
        is_read_only=item["LogicalName"] == ACTIVITIES,
    )


def attribute(item: Mapping[str, Any], entity: str, options: Mapping[str, OptionSet]) -> Attribute | None:
    """Read an attribute; None for one that is not offered.

    That is one that belongs to another attribute (the name of a lookup's record), has a type without a value
    of its own, or is an unknown party list.

    `options` has the option sets of the entity's choices by attribute. A global option set has no entity.
    """
    name = item["LogicalName"]
    type_ = _TYPES.get(_type_name(item))
    if type_ is None or item.get("AttributeOf") or (type_.holds_parties and name not in PART_NUMBERS):
        return None
    if (entity, name) == (NOTE, DOCUMENT):
        # Dataverse has it as base64 text. It is read and written as the file that it is.
        type_ = AttributeType.FILE
    chosen = options.get(name) if type_.has_options else None
    size = item.get("MaxSizeInKB") if type_.holds_file else None
    return Attribute(
        name,
        type_,
        label=label(item.get("DisplayName")),
        description=label(item.get("Description")),
        required=RequiredLevel(_value(item.get("RequiredLevel")) or "None"),
        max_length=item.get("MaxLength") if type_ in (AttributeType.STRING, AttributeType.MEMO) else None,
        precision=item.get("Precision"),
        minimum=_number(item.get("MinValue")),
        maximum=_number(item.get("MaxValue")),
        behavior=DateTimeBehavior(_value(item.get("DateTimeBehavior")) or "UserLocal"),
        targets=tuple(item.get("Targets") or ()) if type_.is_reference or type_.holds_parties else (),
        option_set=None if chosen is None else chosen.name,
        # Only the attribute's own options: those of a global option set are read by its name.
        options=None if chosen is None or chosen.entity is None else chosen,
        max_size=None if size is None else size * KILOBYTE,
        creatable=item.get("IsValidForCreate") is not False,
        updatable=item.get("IsValidForUpdate") is not False,
        is_primary_id=bool(item.get("IsPrimaryId")),
        is_primary_name=bool(item.get("IsPrimaryName")),
        is_custom=bool(item.get("IsCustomAttribute")),
        takes_addresses=type_.holds_parties and takes_addresses(entity),
        readable=item.get("IsValidForRead") is not False,
    )


def option_set(item: Mapping[str, Any], entity: str | None) -> OptionSet:
    """Read an option set. `entity` is None for a global one."""
    options = tuple(_option(option) for option in item.get("Options") or ())
    states = {option.state for option in options if option.state is not None}
    return OptionSet(
        name=item["Name"],
        label=label(item.get("DisplayName")),
        options=options,
        entity=None if item.get("IsGlobal") else entity,
        inactive_states=frozenset(states - {ACTIVE}),
    )


def relationships(item: Mapping[str, Any]) -> Iterator[Relationship]:
    """Yield the relationships of an entity, each once.

    A relationship of an entity with itself is listed on both sides.
    """
    by_name: dict[str, Relationship] = {}
    for relationship in (
        *(item.get("ManyToOneRelationships") or ()),
        *(item.get("OneToManyRelationships") or ()),
    ):
        cascade = (relationship.get("CascadeConfiguration") or {}).get("Delete")
        by_name[relationship["SchemaName"]] = Relationship(
            relationship["SchemaName"],
            relationship["ReferencedEntity"],
            relationship["ReferencingEntity"],
            relationship["ReferencingAttribute"],
            on_delete=_CASCADES.get(str(cascade), Cascade.REMOVE_LINK),
            is_hierarchical=bool(relationship.get("IsHierarchical")),
        )
    for many in item.get("ManyToManyRelationships") or ():
        ends = many["Entity1LogicalName"], many["Entity2LogicalName"]
        attributes = many.get("Entity1IntersectAttribute"), many.get("Entity2IntersectAttribute")
        by_name[many["SchemaName"]] = Relationship(
            many["SchemaName"],
            *ends,
            intersect=many["IntersectEntityName"],
            # Of two entities they are their primary ids.
            intersect_attributes=attributes if ends[0] == ends[1] and all(attributes) else None,
        )
    yield from by_name.values()


def navigation(item: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the navigation properties of lookups, by lookup and target."""
    properties_by_lookup: dict[str, dict[str, str]] = {}
    for relationship in item.get("ManyToOneRelationships") or ():
        name = relationship.get("ReferencingEntityNavigationPropertyName")
        if name:
            properties_by_lookup.setdefault(relationship["ReferencingAttribute"], {})[
                relationship["ReferencedEntity"]
            ] = name
    return properties_by_lookup


def collections(item: Mapping[str, Any], entity: str) -> dict[str, str]:
    """Return the collection-valued navigation property of each many-to-many relationship of `entity`, by
    name.
    """
    properties_by_relationship: dict[str, str] = {}
    for many in item.get("ManyToManyRelationships") or ():
        side = 1 if many["Entity1LogicalName"] == entity else 2
        name = many.get(f"Entity{side}NavigationPropertyName")
        if name:
            properties_by_relationship[many["SchemaName"]] = name
    return properties_by_relationship


def label(item: Mapping[str, Any] | None) -> Label:
    """Read a label in all its languages; one without texts where Dataverse has none (None)."""
    texts = (item or {}).get("LocalizedLabels") or ()
    return Label({text["LanguageCode"]: text["Label"] for text in texts if text.get("Label")})


def _option(item: Mapping[str, Any]) -> Option:
    """Read an option. Only options for status have `State`, and only those for state have `DefaultStatus`."""
    return Option(
        value=item["Value"],
        label=label(item.get("Label")),
        color=item.get("Color") or None,
        hidden=bool(item.get("IsHidden")),
        state=item.get("State"),
        default_status=item.get("DefaultStatus"),
    )


def _type_name(item: Mapping[str, Any]) -> str:
    """Return the name of an attribute's type.

    `AttributeType` is Virtual for all newer types. `AttributeTypeName` tells them apart.
    """
    name = _value(item.get("AttributeTypeName"))
    return str(name).removesuffix("Type") if name else str(item["AttributeType"])


def _value(item: Any) -> Any:
    """Return a value that is written plain or as `{"Value": …}`."""
    return item.get("Value") if isinstance(item, Mapping) else item


def _number(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))
