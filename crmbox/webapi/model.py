"""The metadata as the Web API names it: entity sets, properties, and navigation properties.

A lookup's own value is the property `_primarycontactid_value`; where it leads, `navigation` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from django.db import DEFAULT_DB_ALIAS

from crmbox.engine.connection import read_unit
from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.webapi.errors import no_resource
from crmbox.webapi.navigation import (
    Collection,
    Lookup,
    Navigation,
    lookup_name,
    navigations,
)
from crmclient.metadata import Attribute, AttributeType, Entity
from crmclient.parties import ACTIVITY, PARTY

NAMESPACE = "Microsoft.Dynamics.CRM"


class EntityType:
    """An entity, and its properties by their names in URLs and bodies."""

    def __init__(self, snapshot: Snapshot, stored: StoredEntity) -> None:
        self._snapshot = snapshot
        self.stored = stored
        self.entity: Entity = stored.entity

    @property
    def name(self) -> str:
        return self.entity.logical_name

    @property
    def type_name(self) -> str:
        """Return the qualified name, such as `Microsoft.Dynamics.CRM.account`."""
        return f"{NAMESPACE}.{self.name}"

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        return {name: column.attribute for name, column in self.stored.columns.items()}

    @cached_property
    def properties(self) -> Mapping[str, Attribute]:
        """Return the attributes by property name, which is `_x_value` for a lookup `x`."""
        return {property_name(attribute): attribute for attribute in self.attributes.values()}

    @cached_property
    def selectable(self) -> Mapping[str, Attribute]:
        """Return `properties` and those that come with files and images: `new_contract_name`,
        `new_logoid`.
        """
        by_name = dict(self.properties)
        for attribute in self.attributes.values():
            if attribute.type is AttributeType.FILE:
                by_name.setdefault(f"{attribute.logical_name}_name", attribute)
            elif attribute.type is AttributeType.IMAGE:
                by_name.setdefault(f"{attribute.logical_name}id", attribute)
        return by_name

    @cached_property
    def lookups(self) -> Mapping[str, Lookup]:
        return {name: item for name, item in self._navigations.items() if isinstance(item, Lookup)}

    @cached_property
    def collections(self) -> Mapping[str, Collection]:
        return {name: item for name, item in self._navigations.items() if isinstance(item, Collection)}

    @property
    def _navigations(self) -> Mapping[str, Navigation]:
        return navigations(self._snapshot, self.name)

    def holds_parties(self, collection: Collection) -> bool:
        """Return whether a collection is the parties of an activity, which are written with the activity."""
        return bool(self.stored.party_lists) and (collection.entity, collection.attribute) == (
            PARTY,
            ACTIVITY,
        )

    def navigation_to(self, attribute: str, target: str) -> str:
        """Return the navigation property from the lookup `attribute` to `target`."""
        return lookup_name(self.stored.columns[attribute].definition, target)


class Model:
    """All metadata at one revision."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._types: dict[str, EntityType] = {}

    def entity_type(self, logical_name: str) -> EntityType:
        """Return an entity type by logical name. Raises UnknownEntity."""
        type_ = self._types.get(logical_name)
        if type_ is None:
            type_ = EntityType(self.snapshot, self.snapshot.entity(logical_name))
            self._types[logical_name] = type_
        return type_

    def entity_type_of_set(self, entity_set: str) -> EntityType:
        """Return the entity type of a set. Raises WebApiError 404 for an unknown set."""
        name = self.sets.get(entity_set)
        if name is None:
            raise no_resource(entity_set)
        return self.entity_type(name)

    @cached_property
    def sets(self) -> Mapping[str, str]:
        """Return the logical names of the entities by entity set."""
        return {stored.entity.entity_set: name for name, stored in self.snapshot.entities.items()}


def property_name(attribute: Attribute) -> str:
    """Return the property that holds an attribute's value: `_x_value` for a lookup `x`."""
    return f"_{attribute.logical_name}_value" if attribute.type.is_reference else attribute.logical_name


def current_model(alias: str = DEFAULT_DB_ALIAS) -> Model:
    with read_unit(alias) as unit:
        return _model(unit.snapshot)


@lru_cache(maxsize=4)
def _model(snapshot: Snapshot) -> Model:
    return Model(snapshot)
