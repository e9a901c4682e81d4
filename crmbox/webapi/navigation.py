"""The navigation properties of an entity, by name: where its lookups lead, and which records lead to it.

Their names are case-sensitive, as on Dataverse. A lookup's is its schema name, with `_target` added when it
may point at several entities; an owner's has one name for all. A collection's is the relationship's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crmbox.engine.definitions import AttributeDefinition
from crmbox.engine.snapshot import Snapshot, cached_by_snapshot
from crmclient.metadata import AttributeType, Relationship


@dataclass(frozen=True, slots=True)
class Lookup:
    """A navigation property that leads from `attribute` to one record of one of `targets`.

    Only an owner has several targets under one name.
    """

    name: str
    attribute: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """A navigation property that leads to the records of `entity` that `relationship` ties to a record.

    For a one-to-many relationship, `attribute` is the lookup of `entity` that points back. For a many-to-many
    one it is None, and `pair` names the attributes of the intersect entity with the id of the record and with
    the id of the record it leads to. `is_back` is true for the second direction of a relationship of an
    entity with itself.
    """

    name: str
    entity: str
    relationship: Relationship
    attribute: str | None
    pair: tuple[str, str] = ("", "")
    is_back: bool = False


Navigation: TypeAlias = Lookup | Collection


@cached_by_snapshot(2048)
def navigations(snapshot: Snapshot, entity: str) -> Mapping[str, Navigation]:
    """Return the navigation properties of an entity by name. Raises UnknownEntity."""
    by_name: dict[str, Navigation] = {lookup.name: lookup for lookup in lookups(snapshot, entity)}
    for relationship in snapshot.relationships_of(entity):
        for collection in _collections(snapshot, relationship, entity):
            by_name.setdefault(collection.name, collection)
    return by_name


def lookups(snapshot: Snapshot, entity: str) -> Iterator[Lookup]:
    """Yield the lookups of an entity, one for each target. Raises UnknownEntity."""
    for item in snapshot.entity(entity).definition.attributes:
        if item.attribute.type.is_reference:
            for target in item.attribute.targets:
                yield Lookup(
                    lookup_name(item, target),
                    item.attribute.logical_name,
                    _targets_sharing_name(item, target),
                )


def lookup_name(item: AttributeDefinition, target: str) -> str:
    """Return the name of the navigation property from a lookup to `target`."""
    name = item.schema_name or item.attribute.logical_name
    return (
        name
        if len(_targets_sharing_name(item, target)) == len(item.attribute.targets)
        else f"{name}_{target}"
    )


def _targets_sharing_name(item: AttributeDefinition, target: str) -> tuple[str, ...]:
    """Return the targets that share a name with `target`: all of them for an owner, else `target` alone."""
    return item.attribute.targets if item.attribute.type is AttributeType.OWNER else (target,)


def back_name(relationship: Relationship) -> str:
    """Return the name of the second direction of a many-to-many relationship of an entity with itself."""
    return f"{relationship.name}_referenced"


def _collections(snapshot: Snapshot, relationship: Relationship, entity: str) -> Iterator[Collection]:
    """Yield the collections of an entity by one relationship: none at the end that has the lookup, and two,
    one for each direction, of a many-to-many relationship of the entity with itself.
    """
    if relationship.intersect is None:
        if relationship.referenced == entity:
            yield Collection(
                relationship.name,
                relationship.referencing,
                relationship,
                relationship.referencing_attribute,
            )
        return
    other = relationship.other_end(entity)
    if other is None:
        return
    near, far = relationship.pair_attributes(snapshot.entity(entity).entity, snapshot.entity(other).entity)
    yield Collection(
        name=relationship.name, entity=other, relationship=relationship, attribute=None, pair=(near, far)
    )
    if other == entity:
        back = back_name(relationship)
        yield Collection(
            name=back, entity=other, relationship=relationship, attribute=None, pair=(far, near), is_back=True
        )
