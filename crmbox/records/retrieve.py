"""Reading one record by its id, with the names of the records that its lookups point at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from crmbox.engine.codecs import as_stored
from crmbox.engine.connection import Unit
from crmbox.engine.dialects.base import Row
from crmbox.engine.names import quote
from crmbox.engine.revision import IS_KNOWN
from crmbox.engine.single_statements import SingleRead
from crmbox.engine.snapshot import Snapshot, StoredColumn, cached_by_snapshot
from crmbox.records.parties import parties_of
from crmbox.records.statements import record_id
from crmclient.errors import InvalidRecord, PlatformError, RecordNotFound, UnknownAttribute
from crmclient.values import Guid, Record, Reference, Value

MOST_TARGETS = 16
"""Lookups with more targets, such as a note's *regarding*, go without names: each target costs a subquery."""


def name_expression(snapshot: Snapshot, column: StoredColumn, table: str) -> str | None:
    """Return SQL for the name of the record that `column` refers to; None where there is no name.

    `table` is the SQL alias of the column's table.
    """
    targets = column.attribute.targets
    if not column.attribute.type.is_reference or len(targets) > MOST_TARGETS:
        return None
    names = {target: _name_of(snapshot, target, f"{table}.{quote(column.name)}") for target in targets}
    if column.target is None:
        return next(iter(names.values()), None)
    cases = " ".join(f"WHEN '{target}' THEN {name}" for target, name in names.items() if name is not None)
    return f"CASE {table}.{quote(column.target)} {cases} END" if cases else None


def _name_of(snapshot: Snapshot, target: str, pointer: str) -> str | None:
    """Return a subquery for the name of the record of `target` whose id is the SQL `pointer`.

    None for an entity without a primary name.
    """
    stored = snapshot.entity(target)
    name = stored.name_column
    if name is None:
        return None
    return (
        f"(SELECT n.{quote(name.name)} FROM {quote(stored.table)} n "
        f"WHERE n.{quote(stored.id_column.name)} = {pointer})"
    )


Reader = Callable[[Row], Value]


@dataclass(frozen=True, slots=True)
class _Plan:
    """The statement that reads a record. The version is the first column of its row; each reader reads one
    value.

    `party_lists` are read separately.
    """

    sql: str
    sql_at_once: str
    readers: tuple[tuple[str, Reader], ...]
    party_lists: tuple[str, ...]


def retrieve(unit: Unit, entity: str, id: Guid, columns: tuple[str, ...]) -> Record:
    """Return a record. Raises the errors of `Platform.retrieve`."""
    stored = unit.snapshot.entity(entity)
    plan = _plan(unit.snapshot, entity, columns)
    record = record_id(stored, id)
    rows = unit.rows(plan.sql, (record,))
    if not rows:
        raise RecordNotFound(entity, record)
    plain_record = _record(entity, record, rows[0], plan)
    if not plan.party_lists:
        return plain_record
    parties = parties_of(unit, entity, (record,), plan.party_lists)
    values: dict[str, Value] = dict(plain_record.values)
    for name in plan.party_lists:
        values[name] = parties.get((record, name), ())
    # In the order that was asked for, in which callers show them.
    return replace(plain_record, values={name: values[name] for name in columns})


def retrieve_at_once(unit: SingleRead, entity: str, id: Guid, columns: tuple[str, ...]) -> Record | None:
    """Do as `retrieve` by one statement. None: `retrieve` has to do it, or to say why it is impossible."""
    try:
        plan = _plan(unit.snapshot, entity, columns)
        record = record_id(unit.snapshot.entity(entity), id)
    except PlatformError:
        return None
    if plan.party_lists:
        return None
    rows = unit.rows_if_known(plan.sql_at_once, (record, unit.token))
    return _record(entity, record, rows[0], plan) if rows else None


def _record(entity: str, id: Guid, row: Row, plan: _Plan) -> Record:
    """Return the record in a row of the plan. The first column is its version."""
    return Record(entity, id, str(row[0]), {name: read(row) for name, read in plan.readers})


@cached_by_snapshot(2048)
def _plan(snapshot: Snapshot, entity: str, columns: tuple[str, ...]) -> _Plan:
    """Return the plan to read `columns`. Raises UnknownEntity and InvalidRecord.

    The row has the version first, and then one value for each column, or three for a lookup: the id, the
    entity and the name of its record. Party lists are read apart.
    """
    stored = snapshot.entity(entity)
    attributes = stored.attributes
    unknown = [name for name in columns if name not in attributes or not attributes[name].readable]
    if unknown:
        raise InvalidRecord(
            entity, [UnknownAttribute(name, f"{entity} has no such attribute to read.") for name in unknown]
        )
    expressions = [f"t.{quote(stored.columns['versionnumber'].name)}"]
    readers: list[tuple[str, Reader]] = []
    party_lists = tuple(name for name in columns if name in stored.party_lists)
    for name in columns:
        if name in party_lists:
            continue
        column = stored.columns[name]
        slot = len(expressions)
        expressions.append(f"t.{quote(column.name)}")
        if column.attribute.type.is_reference:
            expressions.append(f"t.{quote(column.target)}" if column.target else "NULL")
            expressions.append(name_expression(snapshot, column, "t") or "NULL")
            readers.append((name, _reference_reader(column, slot)))
        else:
            readers.append((name, _reader(column.codec.decode, slot)))
    sql = (
        f"SELECT {', '.join(expressions)} FROM {quote(stored.table)} t "
        f"WHERE t.{quote(stored.id_column.name)} = {snapshot.dialect.placeholder}"
    )
    at_once = f"{sql} AND {IS_KNOWN.format(snapshot.dialect.placeholder)}"
    return _Plan(sql, at_once, tuple(readers), party_lists)


def _reader(decode: Callable[[Any], Any], slot: int) -> Reader:
    """Return the reader of the value at the position `slot` of the row."""
    if decode is as_stored:
        return itemgetter(slot)

    def read(row: Row) -> Value:
        value = row[slot]
        return None if value is None else decode(value)

    return read


def _reference_reader(column: StoredColumn, slot: int) -> Reader:
    """Return the reader of a lookup: from `slot` on, the row has its id, its entity (None where the lookup
    has a single target) and the name of its record.
    """
    single_target = column.attribute.targets[0] if column.target is None else ""

    def read(row: Row) -> Value:
        id = row[slot]
        return None if id is None else Reference(row[slot + 1] or single_target, id, row[slot + 2])

    return read
