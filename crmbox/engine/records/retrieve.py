"""Reading one record by its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from crmbox.engine.codecs import as_stored
from crmbox.engine.connection import Unit
from crmbox.engine.dialects.base import Row
from crmbox.engine.names import quote
from crmbox.engine.records.naming import name_expression
from crmbox.engine.records.storing import record_id
from crmbox.engine.snapshot import Snapshot, StoredColumn
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownAttribute
from crmclient.values import Guid, Record, Reference, Value

Reader = Callable[[Row], Value]


@dataclass(frozen=True, slots=True)
class _Plan:
    """The version is the first column of a row; each reader takes its own value from the row."""

    sql: str
    readers: tuple[tuple[str, Reader], ...]


def retrieve(unit: Unit, entity: str, id: Guid, columns: tuple[str, ...]) -> Record:
    """Raises as `Platform.retrieve`."""
    plan = _plan(unit.snapshot, entity, columns)
    stored = unit.snapshot.entity(entity)
    record = record_id(stored, id)
    rows = unit.rows(plan.sql, (record,))
    if not rows:
        raise RecordNotFound(entity, record)
    row = rows[0]
    return Record(entity, record, str(row[0]), {name: read(row) for name, read in plan.readers})


@lru_cache(maxsize=2048)
def _plan(snapshot: Snapshot, entity: str, columns: tuple[str, ...]) -> _Plan:
    stored = snapshot.entity(entity)
    unknown = [name for name in columns if name not in stored.columns]
    if unknown:
        raise InvalidRecord(
            entity, [UnknownAttribute(name, f"{entity} has no such attribute.") for name in unknown]
        )
    expressions = [f"t.{quote(stored.columns['versionnumber'].name)}"]
    readers: list[tuple[str, Reader]] = []
    for name in columns:
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
    return _Plan(sql, tuple(readers))


def _reader(decode: Callable[[Any], Any], slot: int) -> Reader:
    if decode is as_stored:
        return itemgetter(slot)

    def read(row: Row) -> Value:
        value = row[slot]
        return None if value is None else decode(value)

    return read


def _reference_reader(column: StoredColumn, slot: int) -> Reader:
    only = column.attribute.targets[0] if column.target is None else ""

    def read(row: Row) -> Value:
        id = row[slot]
        return None if id is None else Reference(row[slot + 1] or only, id, row[slot + 2])

    return read
