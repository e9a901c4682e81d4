"""The stored documents of the platform's metadata, and their JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from crmclient.errors import MissingPrivilege
from crmclient.metadata import Attribute, AttributeType, Entity, OptionSet, Process, Relationship
from crmclient.metadata_parts import OPTIONS, RELATIONSHIPS


@dataclass(frozen=True, slots=True)
class EntityDocument:
    """An entity's attributes, relationships, and navigation properties: by lookup, by target; and, in
    `collections`, by many-to-many relationship.

    `unknown` names the parts of it that the service's own account may not read (RELATIONSHIPS, OPTIONS), each
    with the privilege that it lacks.
    """

    attributes: Mapping[str, Attribute]
    relationships: tuple[Relationship, ...]
    navigation: Mapping[str, Mapping[str, str]]
    collections: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    def require(self, part: str) -> None:
        """Raise MissingPrivilege if the part is unknown."""
        if part in self.unknown:
            raise MissingPrivilege(self.unknown[part])

    def with_parts_of(self, earlier: EntityDocument) -> EntityDocument:
        """Return the document with those of its unknown parts that an earlier one knows."""
        taken_over = self.unknown.keys() - earlier.unknown.keys()
        document = replace(
            self, unknown={part: lacked for part, lacked in self.unknown.items() if part not in taken_over}
        )
        if RELATIONSHIPS in taken_over:
            document = replace(
                document,
                relationships=earlier.relationships,
                navigation=earlier.navigation,
                collections=earlier.collections,
                attributes=_with_fields_of(earlier.attributes, document.attributes, "is_parent"),
            )
        if OPTIONS in taken_over:
            attributes = _with_fields_of(earlier.attributes, document.attributes, "option_set", "options")
            document = replace(document, attributes=attributes)
        return document

    def navigation_to(self, attribute: Attribute, target: str) -> str:
        """Return the navigation property of a lookup to `target`; the lookup's own name if none is known.

        Raises MissingPrivilege where that name may be another one, and only the relationships would tell it.
        """
        name = attribute.logical_name
        known = self.navigation.get(name, {}).get(target)
        # Of several targets, each has a name of its own. A custom one is written as its author likes.
        may_differ = attribute.type is not AttributeType.OWNER and (
            attribute.is_custom or len(attribute.targets) > 1
        )
        if known is None and may_differ:
            self.require(RELATIONSHIPS)
        return known or name

    def collection_of(self, relationship: str) -> str:
        """Return the navigation property of a many-to-many relationship; the relationship's own name if none
        is known.
        """
        return self.collections.get(relationship, relationship)


def _with_fields_of(
    earlier: Mapping[str, Attribute], attributes: Mapping[str, Attribute], *fields: str
) -> dict[str, Attribute]:
    """Return `attributes` with these fields as the earlier ones have them. Both are by name."""
    return {
        name: replace(item, **{field: getattr(earlier[name], field) for field in fields})
        if name in earlier
        else item
        for name, item in attributes.items()
    }


@dataclass(frozen=True, slots=True)
class ProcessDocument:
    """A process. With `is_function`, it is called by GET."""

    process: Process
    is_function: bool = False


ENTITIES: TypeAdapter[dict[str, Entity]] = TypeAdapter(dict[str, Entity])
ENTITY: TypeAdapter[EntityDocument] = TypeAdapter(EntityDocument)
OPTION_SETS: TypeAdapter[dict[str, OptionSet]] = TypeAdapter(dict[str, OptionSet])
PROCESSES: TypeAdapter[dict[str, ProcessDocument]] = TypeAdapter(dict[str, ProcessDocument])
PRIVILEGE: TypeAdapter[str] = TypeAdapter(str)
LANGUAGES: TypeAdapter[tuple[int, ...]] = TypeAdapter(tuple[int, ...])
IDENTITY: TypeAdapter[str] = TypeAdapter(str)
STAMP: TypeAdapter[str] = TypeAdapter(str)
