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
    """An entity with its properties by their names in URLs and bodies."""

    def __init__(self, snapshot: Snapshot, stored: StoredEntity) -> None:
        self._snapshot = snapshot
        self.stored = stored
        self.entity: Entity = stored.entity

    @property
    def name(self) -> str:
        return self.entity.logical_name

    @property
    def type_name(self) -> str:
        """`Microsoft.Dynamics.CRM.account`"""
        return f"{NAMESPACE}.{self.name}"

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        return {name: column.attribute for name, column in self.stored.columns.items()}

    @cached_property
    def properties(self) -> Mapping[str, Attribute]:
        """Attributes by property name, `_x_value` for lookups."""
        return {property_name(attribute): attribute for attribute in self.attributes.values()}

    @cached_property
    def selectable(self) -> Mapping[str, Attribute]:
        """`properties`, and what comes along with files and images: `new_contract_name`, `new_logoid`."""
        found = dict(self.properties)
        for attribute in self.attributes.values():
            if attribute.type is AttributeType.FILE:
                found.setdefault(f"{attribute.logical_name}_name", attribute)
            elif attribute.type is AttributeType.IMAGE:
                found.setdefault(f"{attribute.logical_name}id", attribute)
        return found

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
        """Whether a collection is that of an activity's parties, which are written with the activity."""
        return bool(self.stored.party_lists) and (collection.entity, collection.attribute) == (
            PARTY,
            ACTIVITY,
        )

    def navigation_to(self, attribute: str, target: str) -> str:
        """The navigation property through which the lookup `attribute` leads to `target`."""
        return lookup_name(self.stored.columns[attribute].definition, target)


class Model:
    """All of the metadata at one revision."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._types: dict[str, EntityType] = {}

    def entity_type(self, logical_name: str) -> EntityType:
        """Raises UnknownEntity."""
        found = self._types.get(logical_name)
        if found is None:
            found = EntityType(self.snapshot, self.snapshot.entity(logical_name))
            self._types[logical_name] = found
        return found

    def of_set(self, entity_set: str) -> EntityType:
        """Raises WebApiError (404) for a set that there is not."""
        name = self.sets.get(entity_set)
        if name is None:
            raise no_resource(entity_set)
        return self.entity_type(name)

    @cached_property
    def sets(self) -> Mapping[str, str]:
        """Logical names by entity set."""
        return {stored.entity.entity_set: name for name, stored in self.snapshot.entities.items()}


def property_name(attribute: Attribute) -> str:
    return f"_{attribute.logical_name}_value" if attribute.type.is_reference else attribute.logical_name


def current_model(alias: str = DEFAULT_DB_ALIAS) -> Model:
    with read_unit(alias) as unit:
        return _model(unit.snapshot)


@lru_cache(maxsize=4)
def _model(snapshot: Snapshot) -> Model:
    return Model(snapshot)
