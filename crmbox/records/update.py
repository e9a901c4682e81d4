"""Updating a record: given values are written, None clears, and no record is ever created."""

from __future__ import annotations

from crmbox.engine.connection import WriteUnit
from crmbox.engine.failures import NotUnique
from crmbox.engine.single_statements import SingleUnit
from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.files.registry import clears_files, detach_cleared
from crmbox.records.derived_values import changes_joined_values, set_joined_values, settle_state
from crmbox.records.parties import replace_parties
from crmbox.records.referenced_records import OWNER, look_up, lookup_sql
from crmbox.records.statements import (
    duplicate_error,
    record_id,
    stamp,
    store,
    update_at_once_sql,
    version_number,
    written_entity,
)
from crmbox.records.written_values import WrittenValues
from crmclient.values import Guid, Reference, Stored, Values


def update(
    unit: WriteUnit,
    entity: str,
    id: Guid,
    values: Values,
    *,
    if_version: str | None = None,
    caller: Guid | None = None,
) -> Stored:
    """Write `values` on behalf of `caller`, or else of the service.

    Raises the errors of `Platform.update`.
    """
    stored = written_entity(unit.snapshot, entity)
    record = record_id(stored, id)
    written = _checked_values(unit.snapshot, stored, values)
    set_joined_values(unit, written, record)
    _require(written, values)
    # Checks the records that the values refer to, and the caller. All problems are raised together then.
    look_up(unit, written, caller, _owner(written))
    written.finish()
    store(unit, written, record, if_version=if_version, caller=caller)
    detach_cleared(unit, stored, written.columns, record)
    replace_parties(unit, stored, record, written.parties)
    return Stored(record, str(unit.version))


def update_at_once(
    unit: SingleUnit,
    entity: str,
    id: Guid,
    values: Values,
    *,
    if_version: str | None = None,
    caller: Guid | None = None,
) -> Stored | None:
    """Do as `update` by one statement.

    None: nothing was written, and `update` has to do it, or to say why it is impossible.
    """
    if entity not in unit.snapshot:
        return None
    stored = written_entity(unit.snapshot, entity)
    record = record_id(stored, id)
    written = _checked_values(unit.snapshot, stored, values)
    _require(written, values)
    # Each of these needs more statements than one.
    if (
        written.problems
        or written.parties
        or changes_joined_values(written)
        or clears_files(stored, written.columns)
    ):
        return None
    stamp(written, unit.now, caller)
    lookups = lookup_sql(unit.snapshot, written, caller, _owner(written))
    guard = () if if_version is None else (version_number(entity, record, if_version),)
    sql = update_at_once_sql(
        unit.dialect, stored, tuple(written.columns), lookups.value, lookups.condition, bool(guard)
    )
    try:
        rows = unit.write(sql, (*written.columns.values(), *lookups.parameters, record, *guard))
    except NotUnique as error:
        raise duplicate_error(stored, error) from error
    # The only column of the row is the new version.
    return Stored(record, str(rows[0][0])) if rows else None


def _checked_values(snapshot: Snapshot, stored: StoredEntity, values: Values) -> WrittenValues:
    """Return the values of an update, with state and status settled and problems noted."""
    written = WrittenValues(snapshot, stored)
    written.take(values, creating=False)
    settle_state(written, creating=False)
    return written


def _require(written: WrittenValues, values: Values) -> None:
    """Add a problem for each required attribute among `values` that the write clears."""
    columns = (written.stored.columns.get(name) for name in values)
    written.require(column for column in columns if column is not None and column.attribute.is_required)
    lists = written.stored.party_lists
    written.require_parties(lists[name] for name in values if name in lists)


def _owner(written: WrittenValues) -> Reference | None:
    """Return the new owner, if one was given."""
    return next(
        (Reference(item.entity, item.id) for item in written.pointed if item.attribute == OWNER), None
    )
