"""The metadata as it will be after a change: definitions, and the DDL that changes the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crmbox.engine.definitions import (
    ENTITY_JSON,
    OPTION_SET_JSON,
    AttributeDefinition,
    EntityDefinition,
    Kind,
)
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot
from crmbox.metadata.checks import AllDefinitions, check_entity, check_names_are_unique, check_option_set
from crmclient.errors import InvalidDefinition, UnknownEntity
from crmclient.metadata import Attribute, OptionSet

Statement = tuple[str, Sequence[DbValue]]


@dataclass(frozen=True, slots=True)
class LengthCheck:
    """The check that no text in `column` is longer than `length`, the new length of `attribute`."""

    attribute: str
    table: str
    column: str
    length: int

    def query(self, placeholder: str) -> Statement:
        """Return a query for the number of texts that are longer, and the length of the longest."""
        length = f"LENGTH({quote(self.column)})"
        return (
            f"SELECT COUNT(*), MAX({length}) FROM {quote(self.table)} WHERE {length} > {placeholder}",
            (self.length,),
        )


@dataclass(frozen=True, slots=True)
class OptionCheck:
    """The check that no record has one of `values`, options of the choice `attribute` in `column`.

    `is_several`: the choice holds several options at once.
    """

    attribute: str
    table: str
    column: str
    values: frozenset[int]
    is_several: bool

    @property
    def query(self) -> str:
        """The query for each stored value and the number of records that have it."""
        column = quote(self.column)
        return (
            f"SELECT {column}, COUNT(*) FROM {quote(self.table)} WHERE {column} IS NOT NULL GROUP BY {column}"
        )


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """The check that no two records have the same values in `columns`, of which `key` is made."""

    key: str
    table: str
    columns: tuple[str, ...]

    @property
    def query(self) -> str:
        """The query for the number of different values that several records have in the columns of the key.

        Records with an empty value in one of them do not count: they are not in the unique index.
        """
        columns = [quote(column) for column in self.columns]
        filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
        return (
            f"SELECT COUNT(*) FROM (SELECT 1 FROM {quote(self.table)} WHERE {filled} "
            f"GROUP BY {', '.join(columns)} HAVING COUNT(*) > 1) AS repeated"
        )


class Draft:
    """A working copy of one snapshot's definitions. Nothing reaches the database before the whole fits
    together.
    """

    def __init__(self, snapshot: Snapshot, tables: Iterable[str]) -> None:
        """Copy the definitions of `snapshot`. `tables` are the names of all tables of the database, which new
        ones must not have.
        """
        self.dialect = snapshot.dialect
        self.entities = {name: stored.definition for name, stored in snapshot.entities.items()}
        self.option_sets = dict(snapshot.option_sets)
        self.tables = {*tables, *(definition.table for definition in self.entities.values())}
        self.new_tables: dict[str, list[str]] = {}
        """The statements that make each new table and its indexes."""
        self.new_columns: dict[str, list[tuple[str, str]]] = {}
        """The name and type of each column that is added to a table when all new tables are made."""
        self.statements: list[Statement] = []
        """The statements that run after the new tables and columns are made."""
        self.length_checks: list[LengthCheck] = []
        self.option_checks: list[OptionCheck] = []
        self.key_checks: list[KeyCheck] = []
        self.revision = snapshot.revision
        self._changed: set[tuple[Kind, str]] = set()

    def entity(self, name: str) -> EntityDefinition:
        """Return the definition of an entity. Raises UnknownEntity."""
        if name not in self.entities:
            raise UnknownEntity(name)
        return self.entities[name]

    def attributes(self, entity: str) -> dict[str, Attribute]:
        """Return the attributes of an entity by their logical names. Raises UnknownEntity."""
        return {item.attribute.logical_name: item.attribute for item in self.entity(entity).attributes}

    def attribute(self, entity: str, name: str) -> AttributeDefinition:
        """Return the definition of an attribute. Raises UnknownEntity and InvalidDefinition."""
        for item in self.entity(entity).attributes:
            if item.attribute.logical_name == name:
                return item
        raise InvalidDefinition(f"{entity}: there is no attribute {name!r}.")

    def put_entity(self, definition: EntityDefinition) -> None:
        """Add an entity, or replace its definition."""
        name = definition.entity.logical_name
        self.entities[name] = definition
        self._changed.add((Kind.ENTITY, name))

    def remove_entity(self, name: str) -> None:
        del self.entities[name]
        self._changed.add((Kind.ENTITY, name))

    def put_option_set(self, option_set: OptionSet) -> None:
        self.option_sets[option_set.name] = option_set
        self._changed.add((Kind.OPTION_SET, option_set.name))

    def remove_option_set(self, name: str) -> None:
        del self.option_sets[name]
        self._changed.add((Kind.OPTION_SET, name))

    def make_table(self, table: str, statements: Iterable[str]) -> None:
        """Add a new table, which `statements` make when the change is carried out."""
        self.tables.add(table)
        self.new_tables[table] = list(statements)

    def add_columns(self, table: str, columns: Iterable[tuple[str, str]]) -> None:
        """Add columns, each a name and a type, to `table`, which may be a new one."""
        if added := list(columns):
            self.new_columns.setdefault(table, []).extend(added)

    def run_later(self, statements: Iterable[str]) -> None:
        """Add DDL that runs when the change is carried out."""
        self.statements.extend((statement, ()) for statement in statements)

    @property
    def changed_entities(self) -> frozenset[str]:
        """The entities that are new, changed or removed."""
        return frozenset(name for kind, name in self._changed if kind is Kind.ENTITY)

    @property
    def is_changed(self) -> bool:
        return bool(self._changed)

    def check(self) -> None:
        """Check that every changed definition fits with all the others. Raises InvalidDefinition."""
        metadata = AllDefinitions(self.entities, self.option_sets)
        for kind, name in sorted(self._changed):
            if kind is Kind.ENTITY and name in self.entities:
                check_entity(self.entities[name], metadata)
            elif kind is Kind.OPTION_SET and name in self.option_sets:
                check_option_set(self.option_sets[name])
        check_names_are_unique(metadata)

    def documents(self) -> Iterable[tuple[Kind, str, str | None]]:
        """Yield the kind, name and JSON of each changed definition; None for a removed one."""
        for kind, name in sorted(self._changed):
            if kind is Kind.ENTITY:
                definition = self.entities.get(name)
                text = (
                    None if definition is None else ENTITY_JSON.dump_json(definition, exclude_defaults=True)
                )
            else:
                option_set = self.option_sets.get(name)
                text = (
                    None
                    if option_set is None
                    else OPTION_SET_JSON.dump_json(option_set, exclude_defaults=True)
                )
            yield kind, name, None if text is None else text.decode()
