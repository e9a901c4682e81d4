"""Carrying out a checked write on a record that exists."""

from __future__ import annotations

import datetime as dt

from crmbox.engine.connection import WriteUnit
from crmbox.engine.failures import NotUnique
from crmbox.engine.records.statements import (
    VERSION,
    duplicate,
    untouched,
    update_sql,
    version_condition,
    version_number,
)
from crmbox.engine.records.written import Written
from crmbox.engine.snapshot import StoredEntity
from crmbox.system import SERVICE_USER
from crmclient import fitting
from crmclient.errors import RecordNotFound
from crmclient.values import Guid, Reference


def store(
    unit: WriteUnit, written: Written, record: Guid, *, if_version: str | None, caller: Guid | None
) -> None:
    """Raises RecordNotFound, VersionMismatch, DuplicateKey."""
    stored = written.stored
    stamp(written, unit.now, caller)
    written.set(VERSION, unit.version)
    mark = unit.dialect.placeholder
    sql = update_sql(stored, tuple(written.columns), mark)
    parameters = [*written.columns.values(), record]
    if if_version is not None:
        sql += version_condition(stored, mark)
        parameters.append(version_number(stored.entity.logical_name, record, if_version))
    try:
        touched = unit.execute(sql, parameters)
    except NotUnique as error:
        raise duplicate(stored, error) from error
    if not touched:
        raise untouched(unit, stored, record)


def stamp(written: Written, now: dt.datetime, caller: Guid | None) -> None:
    written.set("modifiedon", now)
    written.set("modifiedby", Reference("systemuser", caller or SERVICE_USER))


def record_id(stored: StoredEntity, id: Guid) -> Guid:
    """An id as stored. What is no GUID is the id of no record."""
    try:
        return fitting.guid(id)
    except TypeError:
        raise RecordNotFound(stored.entity.logical_name, str(id)) from None
