"""Entities as the Web API writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.webapi.metadata.attributes import attribute_item, schema_name
from crmbox.webapi.metadata.items import Item, Leads, managed_property, metadata_id
from crmbox.webapi.metadata.label_bodies import label_json
from crmbox.webapi.metadata.relationships import key_item, relationship_item
from crmbox.webapi.privileges import privileges_of
from crmclient.metadata import AttributeType, Relationship
from crmclient.parties import PARTY


def entity_item(snapshot: Snapshot, stored: StoredEntity) -> Item:
    """Return an entity as an item of metadata."""
    entity, name = stored.entity, stored.entity.logical_name
    id = metadata_id("entity", name)
    schema = stored.definition.schema_name or schema_name(name, custom=entity.is_custom)
    properties = {
        "MetadataId": id,
        "LogicalName": name,
        "SchemaName": schema,
        "EntitySetName": entity.entity_set,
        "LogicalCollectionName": entity.entity_set,
        "CollectionSchemaName": schema_name(entity.entity_set, custom=entity.is_custom),
        "PrimaryIdAttribute": entity.primary_id,
        "PrimaryNameAttribute": entity.primary_name,
        "PrimaryImageAttribute": _primary_image(stored),
        "DisplayName": label_json(entity.label, id),
        "DisplayCollectionName": label_json(entity.plural_label, id, "plural"),
        "Description": label_json(entity.description, id, "description"),
        "OwnershipType": stored.definition.ownership.value,
        "IsCustomEntity": entity.is_custom,
        "IsIntersect": entity.is_intersect,
        "HasNotes": entity.has_notes,
        "ChangeTrackingEnabled": entity.tracks_changes,
        "Privileges": _privileges(stored),
        **_constant_properties(),
        "IsActivity": bool(stored.party_lists),
        "IsActivityParty": name == PARTY,
    }
    return Item("EntityMetadata", id, properties, _navigations(snapshot, stored), subject=(name,))


def _navigations(snapshot: Snapshot, stored: StoredEntity) -> dict[str, Leads]:
    """Return what the navigation properties of an entity's definition lead to, by name."""
    name = stored.entity.logical_name
    return {
        "Attributes": lambda: [attribute_item(snapshot, name, item) for item in stored.definition.attributes],
        "Keys": lambda: [key_item(name, key) for key in stored.entity.keys],
        "ManyToOneRelationships": lambda: _relationships(
            snapshot, name, lambda r: r.intersect is None and r.referencing == name
        ),
        "OneToManyRelationships": lambda: _relationships(
            snapshot, name, lambda r: r.intersect is None and r.referenced == name
        ),
        "ManyToManyRelationships": lambda: _relationships(snapshot, name, lambda r: r.intersect is not None),
    }


def _relationships(snapshot: Snapshot, entity: str, is_shown: Callable[[Relationship], bool]) -> list[Item]:
    """Return those relationships of an entity for which `is_shown` holds, as items of metadata."""
    relationships = filter(is_shown, snapshot.relationships_of(entity))
    return [relationship_item(snapshot, relationship) for relationship in relationships]


def _privileges(stored: StoredEntity) -> list[dict[str, Any]]:
    """Return the privileges for records of an entity. Each may be given for any part of the organisation."""
    depths = dict.fromkeys(("CanBeBasic", "CanBeDeep", "CanBeGlobal", "CanBeLocal"), True)
    return [
        {
            **depths,
            "CanBeEntityReference": False,
            "CanBeParentEntityReference": False,
            "Name": privilege.name,
            "PrivilegeId": privilege.id,
            "PrivilegeType": privilege.right,
        }
        for privilege in privileges_of(stored)
    ]


def _primary_image(stored: StoredEntity) -> str | None:
    """Return the first image attribute of an entity; None without one."""
    images = (n for n, column in stored.columns.items() if column.attribute.type is AttributeType.IMAGE)
    return next(images, None)


def _constant_properties() -> dict[str, Any]:
    """Return the properties that are the same for every entity of this server."""
    return {
        "IsPrivate": False,
        "IsLogicalEntity": False,
        "IsManaged": False,
        "IsBPFEntity": False,
        "IsChildEntity": False,
        "IsEnabledForCharts": True,
        "IsImportable": True,
        "IsStateModelAware": True,
        "IsValidForAdvancedFind": True,
        "IsDocumentManagementEnabled": False,
        "IsAvailableOffline": True,
        "IsReadingPaneEnabled": True,
        "IsBusinessProcessEnabled": False,
        "HasActivities": False,
        "HasFeedback": False,
        "HasEmailAddresses": False,
        "CanTriggerWorkflow": True,
        "AutoRouteToOwnerQueue": False,
        "EntityColor": None,
        "EntityHelpUrl": None,
        "ExternalName": None,
        "ExternalCollectionName": None,
        "DataProviderId": None,
        "DataSourceId": None,
        "TableType": "Standard",
        "IntroducedVersion": "1.0.0.0",
        "HasChanged": None,
        "Settings": [],
        "IsAuditEnabled": managed_property(True, "canmodifyauditsettings"),
        "IsCustomizable": managed_property(True, "iscustomizable"),
        "IsRenameable": managed_property(True, "isrenameable"),
        "IsMappable": managed_property(True, "ismappable"),
        "IsDuplicateDetectionEnabled": managed_property(False, "canmodifyduplicatedetectionsettings"),
        "IsConnectionsEnabled": managed_property(True, "canmodifyconnectionsettings"),
        "IsMailMergeEnabled": managed_property(True, "canmodifymailmergesettings"),
        "CanCreateAttributes": managed_property(True, "cancreateattributes"),
        "CanCreateForms": managed_property(True, "cancreateforms"),
        "CanCreateViews": managed_property(True, "cancreateviews"),
        "CanCreateCharts": managed_property(True, "cancreatecharts"),
        "CanBeRelatedEntityInRelationship": managed_property(True, "canberelatedentityinrelationship"),
        "CanBePrimaryEntityInRelationship": managed_property(True, "canbeprimaryentityinrelationship"),
        "CanBeInManyToMany": managed_property(True, "canbeinmanytomany"),
        "CanModifyAdditionalSettings": managed_property(True, "canmodifyadditionalsettings"),
    }
