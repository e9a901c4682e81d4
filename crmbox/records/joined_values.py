"""Values made of others, such as a full name of first and last name."""

from __future__ import annotations

from functools import lru_cache

from crmbox.engine.connection import Unit
from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.records.written import Written
from crmclient.values import Guid


def is_joined(written: Written) -> bool:
    """Whether the write changes a part of a joined value."""
    return any(
        written.sets(part) for column in _joined(written.stored) for part in column.definition.joined_from
    )


def join(unit: Unit, written: Written, record: Guid | None) -> None:
    """Set every joined value of which the write changes a part; parts that it leaves alone are those of
    `record`.
    """
    for column in _joined(written.stored):
        parts = [written.stored.columns[name] for name in column.definition.joined_from]
        if not any(part.name in written.columns for part in parts):
            continue
        values = {part.name: written.columns.get(part.name) for part in parts}
        missing = [part for part in parts if part.name not in written.columns]
        if missing and record is not None:
            values.update(_stored_values(unit, written.stored, missing, record))
        text = " ".join(str(value) for value in values.values() if value)
        written.set(column.attribute.logical_name, text[: column.attribute.max_length] or None)


def _stored_values(
    unit: Unit, stored: StoredEntity, columns: list[StoredColumn], record: Guid
) -> dict[str, str | None]:
    listed = ", ".join(quote(column.name) for column in columns)
    rows = unit.rows(
        f"SELECT {listed} FROM {quote(stored.table)} "
        f"WHERE {quote(stored.id_column.name)} = {unit.dialect.placeholder}",
        (record,),
    )
    return {column.name: value for row in rows for column, value in zip(columns, row, strict=True)}


@lru_cache(maxsize=4096)
def _joined(stored: StoredEntity) -> tuple[StoredColumn, ...]:
    return tuple(column for column in stored.columns.values() if column.definition.joined_from)
