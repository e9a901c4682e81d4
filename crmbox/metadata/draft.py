"""The metadata as it will be: definitions under change, and the DDL that will get the tables there."""

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
from crmbox.metadata.checks import Known, check_entity, check_names_are_unique, check_option_set
from crmclient.errors import InvalidDefinition, UnknownEntity
from crmclient.metadata import OptionSet

Statement = tuple[str, Sequence[DbValue]]


@dataclass(frozen=True, slots=True)
class LengthCheck:
    """No text in `column` may be longer than `length`, which `attribute` gets."""

    attribute: str
    table: str
    column: str
    length: int

    def query(self, placeholder: str) -> Statement:
        """Selects how many texts are longer, and the length of the longest."""
        length = f"LENGTH({quote(self.column)})"
        return (
            f"SELECT COUNT(*), MAX({length}) FROM {quote(self.table)} WHERE {length} > {placeholder}",
            (self.length,),
        )


class Draft:
    """A working copy of one snapshot's definitions. Nothing reaches the database before the whole fits
    together.
    """

    def __init__(self, snapshot: Snapshot, tables: Iterable[str]) -> None:
        self.dialect = snapshot.dialect
        self.entities = {name: stored.definition for name, stored in snapshot.entities.items()}
        self.option_sets = dict(snapshot.option_sets)
        self.tables = {*tables, *(definition.table for definition in self.entities.values())}
        self.new_tables: dict[str, list[str]] = {}
        """The statements that make each new table and its indexes."""
        self.statements: list[Statement] = []
        """What follows when the new tables are there."""
        self.length_checks: list[LengthCheck] = []
        self.revision = snapshot.revision
        self._changed: set[tuple[Kind, str]] = set()

    def entity(self, name: str) -> EntityDefinition:
        if name not in self.entities:
            raise UnknownEntity(name)
        return self.entities[name]

    def attribute(self, entity: str, name: str) -> AttributeDefinition:
        for item in self.entity(entity).attributes:
            if item.attribute.logical_name == name:
                return item
        raise InvalidDefinition(f"{entity}: there is no attribute {name!r}.")

    def put_entity(self, definition: EntityDefinition) -> None:
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
        self.tables.add(table)
        self.new_tables[table] = list(statements)

    def run(self, statements: Iterable[str]) -> None:
        """Keep DDL for when the change is carried out."""
        self.statements.extend((statement, ()) for statement in statements)

    @property
    def is_changed(self) -> bool:
        return bool(self._changed)

    def check(self) -> None:
        """Raises InvalidDefinition unless every changed definition fits with all the others."""
        known = Known(self.entities, self.option_sets)
        for kind, name in sorted(self._changed):
            if kind is Kind.ENTITY and name in self.entities:
                check_entity(self.entities[name], known)
            elif kind is Kind.OPTION_SET and name in self.option_sets:
                check_option_set(self.option_sets[name])
        check_names_are_unique(known)

    def documents(self) -> Iterable[tuple[Kind, str, str | None]]:
        """Kind, name and JSON of each changed definition; None for one that is gone."""
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
