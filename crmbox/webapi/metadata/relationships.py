"""Relationships and alternate keys as the Web API writes them."""

from __future__ import annotations

from typing import Any

from crmbox.engine.snapshot import Snapshot
from crmbox.webapi.metadata.items import Item, managed_property, metadata_id
from crmbox.webapi.metadata.label_bodies import label_json
from crmbox.webapi.navigation import back_name, lookup_name
from crmclient.metadata import AlternateKey, Label, Relationship

_KEYS = ("SchemaName",)


def relationship_item(snapshot: Snapshot, relationship: Relationship) -> Item:
    """Return a relationship as an item of metadata."""
    if relationship.intersect is not None:
        return _many_to_many(snapshot, relationship)
    return _one_to_many(snapshot, relationship)


def key_item(entity: str, key: AlternateKey) -> Item:
    """Return an alternate key of an entity as an item of metadata."""
    id = metadata_id("key", entity, key.name)
    properties = {
        "MetadataId": id,
        "LogicalName": key.name.lower(),
        "SchemaName": key.name,
        "EntityLogicalName": entity,
        "KeyAttributes": list(key.attributes),
        "DisplayName": label_json(Label({1033: key.name}), id),
        "EntityKeyIndexStatus": "Active",
        "AsyncJob": None,
        "IsManaged": False,
        "IsSynchronous": True,
        "IsExportKey": False,
        "IsSecondaryKey": False,
        "IsCustomizable": managed_property(True, "iscustomizable"),
        "IntroducedVersion": "1.0.0.0",
        "HasChanged": None,
    }
    return Item(
        "EntityKeyMetadata", id, properties, keys=("LogicalName", "SchemaName"), subject=(entity, key.name)
    )


def _one_to_many(snapshot: Snapshot, relationship: Relationship) -> Item:
    """Return a one-to-many relationship with its lookup, and with what a delete does."""
    lookup = relationship.referencing_attribute or ""  # A one-to-many relationship has one.
    referencing = snapshot.entity(relationship.referencing)
    referenced = snapshot.entity(relationship.referenced)
    definition = referencing.columns[lookup].definition
    is_self_relationship = relationship.referenced == relationship.referencing
    properties = {
        **_common_properties(relationship, "OneToManyRelationship", custom=definition.attribute.is_custom),
        "ReferencedEntity": relationship.referenced,
        "ReferencedAttribute": referenced.entity.primary_id,
        "ReferencingEntity": relationship.referencing,
        "ReferencingAttribute": lookup,
        "ReferencedEntityNavigationPropertyName": relationship.name,
        "ReferencingEntityNavigationPropertyName": lookup_name(definition, relationship.referenced),
        "CascadeConfiguration": {
            "Assign": "NoCascade",
            "Delete": relationship.on_delete.value,
            "Archive": "RemoveLink",
            "Merge": "NoCascade",
            "Reparent": "NoCascade",
            "Share": "NoCascade",
            "Unshare": "NoCascade",
            "RollupView": "NoCascade",
        },
        "IsHierarchical": referencing.columns[lookup].attribute.is_parent and is_self_relationship,
        "RelationshipBehavior": 1,
        "EntityKey": None,
        "DenormalizedAttributeName": None,
        "IsDenormalizedLookup": False,
        "IsRelationshipAttributeDenormalized": False,
        "AssociatedMenuConfiguration": _menu(relationship),
    }
    return _item("OneToManyRelationshipMetadata", relationship, properties)


def _many_to_many(snapshot: Snapshot, relationship: Relationship) -> Item:
    """Return a many-to-many relationship with its two ends, numbered 1 and 2."""
    ends = [snapshot.entity(name).entity for name in (relationship.referenced, relationship.referencing)]
    properties: dict[str, Any] = {
        **_common_properties(
            relationship, "ManyToManyRelationship", custom=ends[0].is_custom or ends[1].is_custom
        ),
        "IntersectEntityName": relationship.intersect,
    }
    attributes = relationship.pair_attributes(ends[0], ends[1])
    back = back_name(relationship) if ends[0] is ends[1] else relationship.name
    for number, (end, attribute, navigation) in enumerate(
        zip(ends, attributes, (relationship.name, back), strict=True), 1
    ):
        properties[f"Entity{number}LogicalName"] = end.logical_name
        properties[f"Entity{number}IntersectAttribute"] = attribute
        properties[f"Entity{number}NavigationPropertyName"] = navigation
        properties[f"Entity{number}AssociatedMenuConfiguration"] = _menu(relationship)
    return _item("ManyToManyRelationshipMetadata", relationship, properties)


def _item(type: str, relationship: Relationship, properties: dict[str, Any]) -> Item:
    return Item(type, properties["MetadataId"], properties, keys=_KEYS, subject=(relationship.name,))


def _common_properties(relationship: Relationship, type: str, *, custom: bool) -> dict[str, Any]:
    """Return the properties that both kinds of relationships have."""
    return {
        "MetadataId": metadata_id("relationship", relationship.name),
        "SchemaName": relationship.name,
        "RelationshipType": type,
        "IsCustomRelationship": custom,
        "IsManaged": False,
        "IsValidForAdvancedFind": True,
        "SecurityTypes": "None",
        "IntroducedVersion": "1.0.0.0",
        "HasChanged": None,
        "IsCustomizable": managed_property(True, "iscustomizable"),
    }


def _menu(relationship: Relationship) -> dict[str, Any]:
    """Return how forms show the related records. It is the same for all: this server has no forms."""
    return {
        "Behavior": "UseCollectionName",
        "Group": "Details",
        "Order": 10000,
        "IsCustomizable": True,
        "Icon": None,
        "ViewId": "00000000-0000-0000-0000-000000000000",
        "AvailableOffline": True,
        "MenuId": None,
        "QueryApi": None,
        "Label": label_json(Label(), "relationship", relationship.name, "menu"),
    }
