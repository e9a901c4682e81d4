"""Creating a record."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import lru_cache

from crmbox.engine.connection import WriteUnit
from crmbox.engine.definitions import ACTIVITY_TYPE
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.failures import NotUnique
from crmbox.engine.identities import SERVICE_USER
from crmbox.engine.single_statements import SingleUnit
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.records.auto_numbers import auto_number
from crmbox.records.derived_values import set_joined_values, settle_state
from crmbox.records.parties import write_parties
from crmbox.records.referenced_records import OWNER, look_up, lookup_sql
from crmbox.records.statements import VERSION, duplicate_error, insert_at_once_sql, insert_sql, written_entity
from crmbox.records.written_values import WrittenValues
from crmclient import value_checks
from crmclient.errors import InvalidRecord, WrongType
from crmclient.parties import ACTIVITY
from crmclient.values import Guid, Reference, Stored, Values, new_guid


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a new record of an entity needs: required columns, defaults, numbers, an owner."""

    required: tuple[StoredColumn, ...]
    defaults: tuple[tuple[str, DbValue], ...]
    numbered: tuple[StoredColumn, ...]
    is_owned: bool


def create(
    unit: WriteUnit, entity: str, values: Values, *, id: Guid | None = None, caller: Guid | None = None
) -> Stored:
    """Create a record on behalf of `caller`, or else of the service.

    Raises the errors of `Platform.create`.
    """
    stored = written_entity(unit.snapshot, entity)
    record, written, owner = _complete(unit, stored, values, id, caller)
    written.set(VERSION, unit.version)
    # Checks the records that the values refer to, and the caller. All problems are raised together then.
    look_up(unit, written, caller, owner)
    written.finish()
    try:
        sql = insert_sql(stored, tuple(written.columns), unit.dialect.placeholder)
        unit.execute(sql, tuple(written.columns.values()))
    except NotUnique as error:
        raise duplicate_error(stored, error) from error
    write_parties(unit, stored, record, written.parties)
    return Stored(record, str(unit.version))


def create_at_once(
    unit: SingleUnit, entity: str, values: Values, *, id: Guid | None = None, caller: Guid | None = None
) -> Stored | None:
    """Do as `create` by one statement.

    None: nothing was written, and `create` has to do it, or to say why it is impossible.
    """
    if entity not in unit.snapshot:
        return None
    stored = written_entity(unit.snapshot, entity)
    record, written, owner = _complete(unit, stored, values, id, caller)
    # `create` raises the problems, together with those of missing records. Parties are rows of their own.
    if written.problems or written.parties:
        return None
    lookups = lookup_sql(unit.snapshot, written, caller, owner)
    sql = insert_at_once_sql(unit.dialect, stored, tuple(written.columns), lookups.value, lookups.condition)
    try:
        rows = unit.write(sql, (*written.columns.values(), *lookups.parameters))
    except NotUnique as error:
        raise duplicate_error(stored, error) from error
    # The only column of the row is the new version.
    return Stored(record, str(rows[0][0])) if rows else None


def _complete(
    unit: WriteUnit | SingleUnit, stored: StoredEntity, values: Values, id: Guid | None, caller: Guid | None
) -> tuple[Guid, WrittenValues, Reference | None]:
    """Return the id, the complete values and the owner of a new record; None for an entity without owners.

    The values are those of the caller, with defaults, automatic numbers, state, audit attributes and owner.
    They lack the version, and what is looked up in other records.
    """
    rules = _rules_of(stored)
    written = WrittenValues(unit.snapshot, stored)
    written.take(values, creating=True)
    record = _choose_id(written, id)
    for column, default in rules.defaults:
        written.columns.setdefault(column, default)
    for numbered in rules.numbered:
        if written.columns.get(numbered.name) is None:
            pattern = numbered.definition.auto_number or ""
            written.set(numbered.attribute.logical_name, auto_number(pattern, unit.now))
    settle_state(written, creating=True)
    set_joined_values(unit, written, None)
    written.require(rules.required)
    written.require_parties(stored.party_lists.values())
    actor = Reference("systemuser", caller or SERVICE_USER)
    _set_audit_values(written, unit.now, actor)
    return record, written, _owner(written, actor) if rules.is_owned else None


def _choose_id(written: WrittenValues, id: Guid | None) -> Guid:
    """Return the id that the caller chose, as an argument or among the values, or a new one."""
    # What is wrong with the id is noted or raised as a problem of the primary id's attribute.
    column = written.stored.id_column
    among_values = written.columns.get(column.name)
    if id is not None:
        try:
            chosen = value_checks.guid(id)
        except TypeError as error:
            problem = WrongType(column.attribute.logical_name, f"{error}.")
            raise InvalidRecord(written.stored.entity.logical_name, [problem]) from None
        if among_values not in (None, chosen):
            written.problems.append(WrongType(column.attribute.logical_name, "Another id was chosen too."))
    else:
        chosen = str(among_values) if among_values is not None else new_guid()
    written.columns[column.name] = chosen
    return chosen


def _set_audit_values(written: WrittenValues, now: dt.datetime, actor: Reference) -> None:
    """Set who made the record, and when."""
    # Who brings records from another system says by this attribute when they were made there.
    overridden = written.stored.columns.get("overriddencreatedon")
    created = written.columns.get(overridden.name) if overridden is not None else None
    written.stamp(("createdon", "modifiedon"), now)
    if created is not None:
        written.columns[written.stored.columns["createdon"].name] = created
    written.stamp_user(("createdby", "modifiedby"), actor.id)


def _owner(written: WrittenValues, actor: Reference) -> Reference:
    """Return the given owner, or else `actor`, who makes the record. Write `actor` as the owner then.

    A given owner with a problem stays without a value: the record will be refused anyway.
    """
    for item in written.pointed:
        if item.attribute == OWNER:
            return Reference(item.entity, item.id)
    if not any(problem.attribute == OWNER for problem in written.problems):
        written.stamp_user((OWNER,), actor.id)
    return actor


@lru_cache(maxsize=4096)
def _rules_of(stored: StoredEntity) -> _Rules:
    """Return what a new record of an entity needs, found once for each state of its definition."""
    columns = stored.columns.values()
    defaults = [
        (column.name, column.codec.encode(column.definition.default))
        for column in columns
        if column.definition.default is not None
    ]
    # An imported activity has a column for it; the entities of the CRM in the box have none.
    if stored.entity.primary_id == ACTIVITY and (activity_type := stored.columns.get(ACTIVITY_TYPE)):
        defaults.append((activity_type.name, activity_type.codec.encode(stored.entity.logical_name)))
    return _Rules(
        required=tuple(column for column in columns if column.attribute.is_required),
        defaults=tuple(defaults),
        numbered=tuple(column for column in columns if column.definition.auto_number is not None),
        is_owned=OWNER in stored.columns,
    )
