"""SQL text of single-record writes, compiled once for each entity and set of columns, and their errors."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

from crmbox.engine.connection import Unit, WriteUnit
from crmbox.engine.dialects.base import AtOnce, Dialect
from crmbox.engine.failures import NotUnique
from crmbox.engine.identities import SERVICE_USER
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.records.referenced_records import BUSINESS_UNIT
from crmbox.records.written_values import WrittenValues
from crmclient import value_checks
from crmclient.errors import DuplicateKey, PlatformError, RecordNotFound, Refused, VersionMismatch
from crmclient.values import Guid

VERSION = "versionnumber"


class DuplicateId(DuplicateKey):
    """A record with this id exists. `key` is the primary key's attribute."""


def written_entity(snapshot: Snapshot, entity: str) -> StoredEntity:
    """Return the entity to write to.

    Raises UnknownEntity, and Refused where it shows records of other entities.
    """
    stored = snapshot.entity(entity)
    if stored.definition.is_view:
        raise Refused(f"{entity} shows the records of other entities. Write those instead.")
    return stored


@lru_cache(maxsize=4096)
def insert_sql(stored: StoredEntity, columns: tuple[str, ...], placeholder: str) -> str:
    """Return the statement that inserts a record. The parameters are the values of `columns`."""
    listed = ", ".join(quote(column) for column in columns)
    marks = ", ".join([placeholder] * len(columns))
    return f"INSERT INTO {quote(stored.table)} ({listed}) VALUES ({marks})"


@lru_cache(maxsize=4096)
def insert_at_once_sql(
    dialect: Dialect,
    stored: StoredEntity,
    columns: tuple[str, ...],
    business_unit: str | None,
    condition: str,
) -> str:
    """Return one statement that raises the row version, inserts a row and returns its version.

    It inserts nothing, and returns no row, when the metadata has changed or `condition` does not hold.
    `business_unit` and `condition` are the parts of a LookupSql. The parameters are those of the columns,
    then those of these parts.
    """
    # Each database raises the row version in a way of its own: these are the parts that depend on it.
    at_once = dialect.at_once
    values = {
        **dict.fromkeys(columns, dialect.placeholder),
        **_computed_columns(at_once, stored, business_unit),
    }
    listed = ", ".join(quote(column) for column in values)
    return (
        f"{at_once.beginning}INSERT INTO {quote(stored.table)} ({listed}) "
        f"SELECT {', '.join(values.values())} "
        f"{at_once.source} WHERE {at_once.condition} AND {condition} "
        f"RETURNING {quote(stored.columns[VERSION].name)}"
    )


@lru_cache(maxsize=4096)
def update_at_once_sql(
    dialect: Dialect,
    stored: StoredEntity,
    columns: tuple[str, ...],
    business_unit: str | None,
    condition: str,
    guarded: bool,
) -> str:
    """Return one statement that raises the row version, updates a row and returns its version.

    It returns no row when the metadata has changed, `condition` does not hold, or no record has the id and
    the version. The parameters are those of `insert_at_once_sql`, then the id and, where `guarded`, the
    version that the row must have.
    """
    at_once, placeholder = dialect.at_once, dialect.placeholder
    table, version = quote(stored.table), quote(stored.columns[VERSION].name)
    values = {**dict.fromkeys(columns, placeholder), **_computed_columns(at_once, stored, business_unit)}
    changes = ", ".join(f"{quote(column)} = {value}" for column, value in values.items())
    guard = f" AND {table}.{version} = {placeholder}" if guarded else ""
    return (
        f"{at_once.beginning}UPDATE {table} SET {changes} {at_once.source} "
        f"WHERE {at_once.condition} AND {condition} "
        f"AND {table}.{quote(stored.id_column.name)} = {placeholder}{guard} RETURNING {table}.{version}"
    )


def _computed_columns(at_once: AtOnce, stored: StoredEntity, business_unit: str | None) -> dict[str, str]:
    """Return the SQL of the columns that the statement computes.

    The business unit, which has a parameter, is first.
    """
    expressions = {} if business_unit is None else {stored.columns[BUSINESS_UNIT].name: business_unit}
    return {**expressions, stored.columns[VERSION].name: at_once.version}


@lru_cache(maxsize=4096)
def update_sql(stored: StoredEntity, columns: tuple[str, ...], placeholder: str) -> str:
    """Return the statement that updates a record. The id is the last parameter."""
    listed = ", ".join(f"{quote(column)} = {placeholder}" for column in columns)
    return f"UPDATE {quote(stored.table)} SET {listed} {where_id(stored, placeholder)}"


@lru_cache(maxsize=4096)
def delete_sql(stored: StoredEntity, placeholder: str) -> str:
    """Return the statement that deletes the record whose id is the parameter."""
    return f"DELETE FROM {quote(stored.table)} {where_id(stored, placeholder)}"


def where_id(stored: StoredEntity, placeholder: str) -> str:
    """Return the WHERE clause for the record whose id is the parameter."""
    return f"WHERE {quote(stored.id_column.name)} = {placeholder}"


@lru_cache(maxsize=4096)
def version_condition(stored: StoredEntity, placeholder: str) -> str:
    """Return what follows `where_id` in a statement that is only for one version of the record."""
    return f" AND {quote(stored.columns['versionnumber'].name)} = {placeholder}"


def version_number(entity: str, id: Guid, version: str) -> int:
    """Return a version as stored. Raises VersionMismatch for a text that no record can have."""
    # Up to 18 digits fit a 64-bit integer. The database would refuse a larger number.
    if not (version.isascii() and version.isdigit() and len(version) < 19):
        raise VersionMismatch(entity, id)
    return int(version)


def why_no_row_was_written(unit: Unit, stored: StoredEntity, id: Guid) -> PlatformError:
    """Return why a guarded write found no row: the record is missing, or has another version."""
    placeholder = unit.dialect.placeholder
    rows = unit.rows(f"SELECT 1 FROM {quote(stored.table)} {where_id(stored, placeholder)}", (id,))
    error = VersionMismatch if rows else RecordNotFound
    return error(stored.entity.logical_name, id)


def duplicate_error(stored: StoredEntity, error: NotUnique) -> DuplicateKey:
    """Return the error for the key of the entity that a unique index belongs to.

    An index of no alternate key is that of the primary key.
    """
    violation = error.violation
    for key in stored.entity.keys:
        columns = tuple(stored.columns[name].comparable for name in key.attributes)
        # PostgreSQL names the index, SQLite the columns.
        if violation.index == stored.definition.key_indexes[key.name] or violation.columns == columns:
            return DuplicateKey(stored.entity.logical_name, key.name)
    return DuplicateId(stored.entity.logical_name, stored.entity.primary_id)


def store(
    unit: WriteUnit, written: WrittenValues, record: Guid, *, if_version: str | None, caller: Guid | None
) -> None:
    """Update a record with `written`, and set who changed it and when.

    Raises RecordNotFound, DuplicateKey, and VersionMismatch unless the record has the version `if_version`.
    """
    stored = written.stored
    stamp(written, unit.now, caller)
    written.set(VERSION, unit.version)
    placeholder = unit.dialect.placeholder
    sql = update_sql(stored, tuple(written.columns), placeholder)
    parameters = [*written.columns.values(), record]
    if if_version is not None:
        sql += version_condition(stored, placeholder)
        parameters.append(version_number(stored.entity.logical_name, record, if_version))
    try:
        touched = unit.execute(sql, parameters)
    except NotUnique as error:
        raise duplicate_error(stored, error) from error
    if not touched:
        raise why_no_row_was_written(unit, stored, record)


def stamp(written: WrittenValues, now: dt.datetime, caller: Guid | None) -> None:
    """Set who changed the record, and when."""
    written.set("modifiedon", now)
    written.stamp_user(("modifiedby",), caller or SERVICE_USER)


def record_id(stored: StoredEntity, id: Guid) -> Guid:
    """Return an id as stored. Raises RecordNotFound for a text that is no GUID."""
    try:
        return value_checks.guid(id)
    except TypeError:
        raise RecordNotFound(stored.entity.logical_name, str(id)) from None
