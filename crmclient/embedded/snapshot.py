"""All metadata at one revision, never changed once made.

A process keeps the last few snapshots by their revision's token. Since tokens are random, a snapshot read
inside a transaction that is rolled back later can never be taken for another. A new snapshot shares with
the one before what the change in between did not touch, and a definition is parsed when first asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from crmclient.embedded.codecs import Codec, codec_for
from crmclient.embedded.definitions import (
    ENTITY_JSON,
    OPTION_SET_JSON,
    AttributeDefinition,
    EntityDefinition,
)
from crmclient.embedded.dialects.base import DbValue, Dialect, Row, Storage
from crmclient.embedded.revision import Revision
from crmclient.embedded.text import fold
from crmclient.errors import UnknownEntity, UnknownOptionSet
from crmclient.metadata import ENGLISH, Attribute, Entity, OptionSet, Relationship

KEPT = 4

T = TypeVar("T")
Rows = Callable[[str, Sequence[Any]], list[Row]]


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """An attribute and its physical column.

    `key` is the column of a text's comparison form; `target` the one that says which entity a polymorphic
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
        """`value` as the `comparable` column holds it. Raises TypeError, ValueError."""
        encoded = self.codec.encode(value)
        return fold(encoded) if self.key is not None and isinstance(encoded, str) else encoded


@dataclass(frozen=True, slots=True, eq=False)
class StoredEntity:
    """An entity, its table and its columns by logical name."""

    entity: Entity
    table: str
    columns: Mapping[str, StoredColumn]
    definition: EntityDefinition

    @property
    def id_column(self) -> StoredColumn:
        return self.columns[self.entity.primary_id]

    @property
    def name_column(self) -> StoredColumn | None:
        return self.columns[self.entity.primary_name] if self.entity.primary_name else None


class _Document(Generic[T]):
    """A stored definition, parsed when first asked for."""

    __slots__ = ("_parse", "_text", "_value", "token")

    def __init__(self, token: str, text: str, parse: Callable[[str], T]) -> None:
        self.token = token
        self._text: str | None = text
        self._parse = parse
        self._value: T | None = None

    def value(self) -> T:
        if self._value is None and self._text is not None:
            self._value = self._parse(self._text)
            self._text = None
        assert self._value is not None  # noqa: S101  the text goes only when the value is there
        return self._value


class Snapshot:
    """Read by name; an unknown name is an error before any SQL exists."""

    def __init__(
        self,
        revision: Revision,
        dialect: Dialect,
        entities: Mapping[str, _Document[StoredEntity]],
        option_sets: Mapping[str, _Document[OptionSet]],
    ) -> None:
        self.revision = revision
        self.dialect = dialect
        self._entities = entities
        self._option_sets = option_sets

    def __contains__(self, entity: str) -> bool:
        return entity in self._entities

    def entity(self, logical_name: str) -> StoredEntity:
        """Raises UnknownEntity."""
        document = self._entities.get(logical_name)
        if document is None:
            raise UnknownEntity(logical_name)
        return document.value()

    @cached_property
    def entities(self) -> Mapping[str, StoredEntity]:
        return {name: document.value() for name, document in self._entities.items()}

    @cached_property
    def option_sets(self) -> Mapping[str, OptionSet]:
        """The global ones by name."""
        return {name: document.value() for name, document in self._option_sets.items()}

    def global_option_set(self, name: str) -> OptionSet:
        """Raises UnknownOptionSet."""
        document = self._option_sets.get(name)
        if document is None:
            raise UnknownOptionSet(name)
        return document.value()

    def options_of(self, attribute: Attribute) -> OptionSet:
        """The option set of a choice attribute, its own or a global one."""
        return attribute.options or self.global_option_set(attribute.option_set or attribute.logical_name)

    @cached_property
    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(r for stored in self.entities.values() for r in stored.definition.relationships)

    def relationships_of(self, entity: str) -> tuple[Relationship, ...]:
        """Those in which an entity takes part, on either side or as the intersect."""
        return self._relationships_by_entity.get(entity, ())

    @cached_property
    def _relationships_by_entity(self) -> dict[str, tuple[Relationship, ...]]:
        found: dict[str, list[Relationship]] = {}
        for relationship in self.relationships:
            for end in {relationship.referenced, relationship.referencing, relationship.intersect}:
                if end is not None:
                    found.setdefault(end, []).append(relationship)
        return {entity: tuple(relationships) for entity, relationships in found.items()}

    @cached_property
    def languages(self) -> tuple[int, ...]:
        """The LCIDs that any label is written in; English, the base language, first."""
        found = {
            lcid
            for stored in self.entities.values()
            for label in (stored.entity.label, *(c.attribute.label for c in stored.columns.values()))
            for lcid in label.texts
        }
        options = (option for option_set in self.option_sets.values() for option in option_set.options)
        found.update(lcid for option in options for lcid in option.label.texts)
        return (ENGLISH, *sorted(found - {ENGLISH}))

    def at(self, revision: Revision, rows: Rows) -> Snapshot:
        """The snapshot at `revision`, reading only what changed since this one."""
        stamps = rows("SELECT kind, name, token FROM crm_definition ORDER BY kind, name", ())
        known = {"entity": self._entities, "optionset": self._option_sets}
        changed = {
            name
            for kind, name, token in stamps
            if name not in known[kind] or known[kind][name].token != token
        }
        read = {(kind, name): (token, text) for kind, name, token, text in self._documents(rows, changed)}
        return Snapshot(
            revision,
            self.dialect,
            _merged("entity", stamps, self._entities, read, self._parse_entity),
            _merged("optionset", stamps, self._option_sets, read, OPTION_SET_JSON.validate_json),
        )

    def _documents(self, rows: Rows, names: set[str]) -> list[Row]:
        among = self.dialect.among("name", Storage.TEXT)
        return rows(
            f"SELECT kind, name, token, document FROM crm_definition WHERE {among}",
            (self.dialect.list_parameter(sorted(names)),),
        )

    def _parse_entity(self, text: str) -> StoredEntity:
        return stored_entity(ENTITY_JSON.validate_json(text), self.dialect)


def stored_entity(definition: EntityDefinition, dialect: Dialect) -> StoredEntity:
    """A definition with the columns and codecs of one database."""
    columns = {
        item.attribute.logical_name: StoredColumn(
            item.attribute,
            item.column,
            item.key,
            item.target,
            codec_for(item.attribute, dialect.name),
            item,
        )
        for item in definition.attributes
    }
    return StoredEntity(definition.entity, definition.table, columns, definition)


class _Recent:
    """The process's snapshots by token, the latest last."""

    def __init__(self) -> None:
        self._by_token: OrderedDict[str, Snapshot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, token: str) -> Snapshot | None:
        return self._by_token.get(token)

    def latest(self) -> Snapshot | None:
        with self._lock:
            return next(reversed(self._by_token.values()), None)

    def keep(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._by_token[snapshot.revision.token] = snapshot
            while len(self._by_token) > KEPT:
                self._by_token.popitem(last=False)


_recent = _Recent()


def snapshot_at(revision: Revision, dialect: Dialect, rows: Rows) -> Snapshot:
    """The snapshot of a revision that was read in the transaction in which `rows` reads."""
    snapshot = _recent.get(revision.token)
    if snapshot is None:
        before = _recent.latest()
        if before is None or before.dialect is not dialect:
            before = Snapshot(Revision(0, ""), dialect, {}, {})
        snapshot = before.at(revision, rows)
        _recent.keep(snapshot)
    return snapshot


def _merged(
    kind: str,
    stamps: list[Row],
    before: Mapping[str, _Document[T]],
    read: Mapping[tuple[str, str], tuple[str, str]],
    parse: Callable[[str], T],
) -> dict[str, _Document[T]]:
    merged = {}
    for stamped, name, _ in stamps:
        if stamped != kind:
            continue
        if (kind, name) in read:
            merged[name] = _Document(*read[kind, name], parse)
        elif name in before:
            merged[name] = before[name]
    return merged
