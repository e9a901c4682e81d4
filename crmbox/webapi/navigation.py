"""The navigation properties of an entity, by name: where its lookups lead, and which records lead to it.

Their names are case-sensitive, as on Dataverse. A lookup's is its schema name, with `_target` added when it
may point at several entities; an owner's has one name for all. A collection's is the relationship's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from crmbox.engine.definitions import AttributeDefinition
from crmbox.engine.snapshot import Snapshot
from crmclient.metadata import AttributeType, Relationship


@dataclass(frozen=True, slots=True)
class Lookup:
    """Leads from `attribute` to one record of one of `targets`: of several for an owner only."""

    name: str
    attribute: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """Leads to the records of `entity` that `relationship` ties to a record.

    Of a one-to-many relationship `attribute` is the lookup of `entity` that points back; it is None for a
    many-to-many one.
    """

    name: str
    entity: str
    relationship: Relationship
    attribute: str | None


Navigation: TypeAlias = Lookup | Collection


@lru_cache(maxsize=2048)
def navigations(snapshot: Snapshot, entity: str) -> Mapping[str, Navigation]:
    """Every navigation property of an entity by name. Raises UnknownEntity."""
    found: dict[str, Navigation] = {lookup.name: lookup for lookup in lookups(snapshot, entity)}
    for relationship in snapshot.relationships_of(entity):
        for collection in _collections(relationship, entity):
            found.setdefault(collection.name, collection)
    return found


def lookups(snapshot: Snapshot, entity: str) -> Iterator[Lookup]:
    """The lookups of an entity, each once for every name it has. Raises UnknownEntity."""
    for item in snapshot.entity(entity).definition.attributes:
        if item.attribute.type.is_reference:
            for target in item.attribute.targets:
                yield Lookup(lookup_name(item, target), item.attribute.logical_name, _together(item, target))


def lookup_name(item: AttributeDefinition, target: str) -> str:
    """The name under which a lookup leads to `target`."""
    name = item.schema_name or item.attribute.logical_name
    return name if len(_together(item, target)) == len(item.attribute.targets) else f"{name}_{target}"


def _together(item: AttributeDefinition, target: str) -> tuple[str, ...]:
    """The targets that share one name with `target`."""
    return item.attribute.targets if item.attribute.type is AttributeType.OWNER else (target,)


def _collections(relationship: Relationship, entity: str) -> Iterator[Collection]:
    if relationship.intersect is None:
        if relationship.referenced == entity:
            yield Collection(
                relationship.name,
                relationship.referencing,
                relationship,
                relationship.referencing_attribute,
            )
    elif entity in (relationship.referenced, relationship.referencing):
        other = relationship.referencing if entity == relationship.referenced else relationship.referenced
        yield Collection(relationship.name, other, relationship, None)
