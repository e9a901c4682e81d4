"""All metadata at one revision, never changed once made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import ref

from crmbox.engine.codecs import Codec, codec_for
from crmbox.engine.definitions import AttributeDefinition, EntityDefinition
from crmbox.engine.dialects.base import DbValue, Dialect
from crmbox.engine.revision import Revision
from crmclient.errors import UnknownEntity, UnknownOptionSet
from crmclient.metadata import ENGLISH, Attribute, Entity, OptionSet, Relationship
from crmclient.text import fold

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """An attribute and its physical column.

    `key` is the column of a text's comparison form; `target` is the column with the entity that a polymorphic
    lookup points at. Filters, orders, groups and unique keys use `comparable`.
    """

    attribute: Attribute
    name: str
    key: str | None
    target: str | None
    codec: Codec
    definition: AttributeDefinition

    @property
    def comparable(self) -> str:
        return self.key or self.name

    def encode_key(self, value: Any) -> DbValue:
        """Return `value` as the `comparable` column holds it. Raises TypeError and ValueError."""
        encoded = self.codec.encode(value)
        return fold(encoded) if self.key is not None and isinstance(encoded, str) else encoded


@dataclass(frozen=True, slots=True, eq=False)
class StoredEntity:
    """An entity, its table and its columns by logical name; `party_lists` are attributes without a column."""

    entity: Entity
    table: str
    columns: Mapping[str, StoredColumn]
    definition: EntityDefinition
    party_lists: Mapping[str, Attribute]

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Return every attribute by logical name."""
        return {name: column.attribute for name, column in self.columns.items()} | dict(self.party_lists)

    @property
    def id_column(self) -> StoredColumn:
        return self.columns[self.entity.primary_id]

    @property
    def parent_column(self) -> StoredColumn | None:
        """The lookup by which records of the entity form a hierarchy."""
        return next((column for column in self.columns.values() if column.attribute.is_parent), None)

    @property
    def name_column(self) -> StoredColumn | None:
        return self.columns[self.entity.primary_name] if self.entity.primary_name else None


class Document(Protocol[T_co]):
    """A definition that is parsed when it is first needed: most requests need few of a thousand."""

    def value(self) -> T_co: ...


class Snapshot:
    """All metadata at one revision, by name. An unknown name raises an error before any SQL is made."""

    def __init__(
        self,
        revision: Revision,
        dialect: Dialect,
        entities: Mapping[str, Document[StoredEntity]],
        option_sets: Mapping[str, Document[OptionSet]],
    ) -> None:
        """Take the stored definitions by name. Each becomes a value only when it is asked for."""
        self.revision = revision
        self.dialect = dialect
        self._entities = entities
        self._option_sets = option_sets

    def __contains__(self, entity: str) -> bool:
        return entity in self._entities

    def entity(self, logical_name: str) -> StoredEntity:
        """Return an entity. Raises UnknownEntity."""
        document = self._entities.get(logical_name)
        if document is None:
            raise UnknownEntity(logical_name)
        return document.value()

    @cached_property
    def entities(self) -> Mapping[str, StoredEntity]:
        return {name: document.value() for name, document in self._entities.items()}

    @cached_property
    def option_sets(self) -> Mapping[str, OptionSet]:
        """The global option sets by name."""
        return {name: document.value() for name, document in self._option_sets.items()}

    def option_set(self, name: str, entity: str | None) -> OptionSet:
        """Return a global option set (`entity` None), or that of the attribute `name` of an entity.

        Raises UnknownEntity, UnknownOptionSet.
        """
        if entity is None:
            return self.global_option_set(name)
        column = self.entity(entity).columns.get(name)
        if column is None or not column.attribute.type.has_options:
            raise UnknownOptionSet(f"{entity}.{name}")
        return self.options_of(column.attribute)

    def global_option_set(self, name: str) -> OptionSet:
        """Return a global option set. Raises UnknownOptionSet."""
        document = self._option_sets.get(name)
        if document is None:
            raise UnknownOptionSet(name)
        return document.value()

    def options_of(self, attribute: Attribute) -> OptionSet:
        """Return the option set of a choice attribute: its own, or a global one."""
        return attribute.options or self.global_option_set(attribute.option_set or attribute.logical_name)

    @cached_property
    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(
            relationship
            for stored in self.entities.values()
            for relationship in _relationships(stored.definition)
        )

    def relationships_of(self, entity: str) -> tuple[Relationship, ...]:
        """Return the relationships that an entity takes part in, on either side or as the intersect
        entity.
        """
        return self._relationships_by_entity.get(entity, ())

    @cached_property
    def _relationships_by_entity(self) -> dict[str, tuple[Relationship, ...]]:
        by_entity: dict[str, list[Relationship]] = {}
        for relationship in self.relationships:
            for end in {relationship.referenced, relationship.referencing, relationship.intersect}:
                if end is not None:
                    by_entity.setdefault(end, []).append(relationship)
        return {entity: tuple(relationships) for entity, relationships in by_entity.items()}

    @cached_property
    def languages(self) -> tuple[int, ...]:
        """The LCIDs that any label is written in; English, the base language, first."""
        lcids = {
            lcid
            for stored in self.entities.values()
            for label in (stored.entity.label, *(attribute.label for attribute in stored.attributes.values()))
            for lcid in label.texts
        }
        options = (option for option_set in self.option_sets.values() for option in option_set.options)
        lcids.update(lcid for option in options for lcid in option.label.texts)
        return (ENGLISH, *sorted(lcids - {ENGLISH}))


def cached_by_snapshot(
    maxsize: int,
) -> Callable[[Callable[Concatenate[Snapshot, P], T]], Callable[Concatenate[Snapshot, P], T]]:
    """Return a decorator that caches what a function makes of a snapshot, for at most `maxsize` calls.

    The cache keeps no snapshot alive, as `lru_cache` would. So what the function returns must not hold the
    snapshot either. Arguments are given by position.
    """

    def decorate(make: Callable[Concatenate[Snapshot, P], T]) -> Callable[Concatenate[Snapshot, P], T]:
        @lru_cache(maxsize)
        def make_once(reference: ref[Snapshot], *args: P.args, **kwargs: P.kwargs) -> T:
            snapshot = reference()
            assert snapshot is not None  # noqa: S101  for the type checker: the caller below holds it
            return make(snapshot, *args, **kwargs)

        @wraps(make)
        def cached(snapshot: Snapshot, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return make_once(ref(snapshot), *args, **kwargs)  # type: ignore[arg-type]  # hashable at run time

        return cached

    return decorate


def _relationships(definition: EntityDefinition) -> Iterator[Relationship]:
    """Yield the relationships of a definition. The one through the lookup `definition.parent` is marked
    hierarchical, and no other, whatever is stored.
    """
    parent = definition.parent
    for relationship in definition.relationships:
        is_own = relationship.referenced == relationship.referencing
        is_parent = is_own and parent is not None and relationship.referencing_attribute == parent
        yield (
            relationship
            if relationship.is_hierarchical == is_parent
            else replace(relationship, is_hierarchical=is_parent)
        )


def stored_entity(definition: EntityDefinition, dialect: Dialect) -> StoredEntity:
    """Return a definition with the columns and codecs of one database.

    An attribute without a column is a party list, whose values are records of their own (`parties`).
    """
    parent = definition.parent
    columns = {
        item.attribute.logical_name: StoredColumn(
            attribute=replace(item.attribute, is_parent=item.attribute.logical_name == parent),
            name=item.column,
            key=item.key,
            target=item.target,
            codec=codec_for(item.attribute, dialect.name),
            definition=item,
        )
        for item in definition.attributes
        if item.column
    }
    # Records with a version can be asked for those above a given version.
    tracks_changes = (
        "versionnumber" in columns and not definition.entity.is_intersect and not definition.is_view
    )
    entity = replace(definition.entity, tracks_changes=tracks_changes, is_read_only=definition.is_view)
    parties = {
        attribute_definition.attribute.logical_name: attribute_definition.attribute
        for attribute_definition in definition.attributes
        if not attribute_definition.column
    }
    return StoredEntity(
        entity=entity, table=definition.table, columns=columns, definition=definition, party_lists=parties
    )
