"""Definitions of entities: the platform's metadata and how it is stored, with a JSON form for their table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from pydantic import TypeAdapter

from crmbox.engine.dialects.base import Storage
from crmclient.metadata import Attribute, Entity, OptionSet, Relationship

ACTIVITY_TYPE: Final = "activitytypecode"
"""The attribute of activities that holds the name of their entity."""


class Kind(str, Enum):
    """The kind of definition in a row of the table of definitions."""

    ENTITY = "entity"
    OPTION_SET = "optionset"


class Ownership(str, Enum):
    """Who owns an entity's records: a user or team, the organisation as a whole, or nobody (intersect
    entities).
    """

    USER = "UserOwned"
    ORGANIZATION = "OrganizationOwned"
    NONE = "None"


@dataclass(frozen=True, slots=True)
class FileFact:
    """An attribute that repeats a fact of the file in column `file`: a field of FileInfo, or `present`."""

    file: str
    fact: str


@dataclass(frozen=True, slots=True)
class AttributeDefinition:
    """One attribute and where it is stored.

    `column` is the physical column, empty for a party list, whose parties are records; `key` holds a text's
    comparison form; `target` holds the entity that a lookup with several possible targets points at.
    `joined_from`: the value is made of these attributes, joined with a blank. `default` is the value that a
    create gives when the caller gives none. `schema_name` is the logical name in the letters that its maker
    wrote, where they are not all small. `full_image`: an image is kept as it came, not as a thumbnail alone.
    `auto_number`: the pattern by which a create makes the value when the caller gives none. `indexed`:
    somebody has asked for an index to filter and sort by. `searched`: for one that finds pieces of the text.
    """

    attribute: Attribute
    column: str
    key: str | None = None
    target: str | None = None
    joined_from: tuple[str, ...] = ()
    file_fact: FileFact | None = None
    default: bool | int | None = None
    schema_name: str | None = None
    full_image: bool = True
    auto_number: str | None = None
    indexed: bool = False
    searched: bool = False


@dataclass(frozen=True, slots=True)
class SpareColumn:
    """The emptied column of a deleted attribute. PostgreSQL counts dropped columns for ever, so it is used
    again.
    """

    name: str
    storage: Storage


@dataclass(frozen=True, slots=True)
class EntityDefinition:
    """One entity as stored. `key_indexes` gives the unique index of each alternate key, by the key's name.

    `relationships` are those in which this entity is the referencing side, or the intersect. `schema_name` as
    an attribute's. `is_view`: its records are those of other entities, and its table shows them.
    """

    entity: Entity
    table: str
    ownership: Ownership
    attributes: tuple[AttributeDefinition, ...]
    relationships: tuple[Relationship, ...] = ()
    key_indexes: Mapping[str, str] = field(default_factory=dict)
    spare: tuple[SpareColumn, ...] = ()
    schema_name: str | None = None
    is_view: bool = False

    @property
    def parent(self) -> str | None:
        """The name of the lookup by which records form a hierarchy, such as `parentaccountid`.

        It is that of the hierarchical relationship, or else the only lookup to the entity itself that people
        write. None where there is no such lookup, or where several could be it.
        """
        name = self.entity.logical_name
        writable_names = {
            definition.attribute.logical_name
            for definition in self.attributes
            if definition.attribute.updatable
        }
        self_relationships = [
            relationship
            for relationship in self.relationships
            if relationship.referenced == relationship.referencing == name
        ]
        lookups = [
            relationship
            for relationship in self_relationships
            if relationship.referencing_attribute in writable_names
        ]
        chosen = [
            relationship for relationship in self_relationships if relationship.is_hierarchical
        ] or lookups
        return chosen[0].referencing_attribute if len(chosen) == 1 else None


ENTITY_JSON: TypeAdapter[EntityDefinition] = TypeAdapter(EntityDefinition)
OPTION_SET_JSON: TypeAdapter[OptionSet] = TypeAdapter(OptionSet)
