"""Checks that the records that a write refers to exist, and finds the business unit of the owner."""

from __future__ import annotations

from typing import NamedTuple

from crmbox.engine.connection import Unit
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, cached_by_snapshot
from crmbox.records.callers import is_enabled, refuse_disabled
from crmbox.records.written_values import ReferencedRecord, WrittenValues
from crmclient.errors import UnknownTarget
from crmclient.values import Guid, Reference

OWNER, BUSINESS_UNIT = "ownerid", "owningbusinessunit"


def look_up(unit: Unit, written: WrittenValues, caller: Guid | None, owner: Reference | None) -> None:
    """Find, by one statement, which of `written.pointed` exist, whether `caller` may act, and the
    business unit of `owner`.

    Adds a problem for each missing record, and sets the owning business unit. Raises AccessDenied when
    `caller` is no enabled user.
    """
    pointed = written.pointed
    if not pointed and caller is None and owner is None:
        return
    entities = tuple(item.entity for item in pointed)
    # The one row says of each record whether it exists, then whether the caller is enabled, and then the
    # business unit.
    sql = _lookup_statement(unit.snapshot, entities, caller is not None, owner.entity if owner else None)
    parameters = [item.id for item in pointed]
    parameters += [caller] if caller is not None else []
    parameters += [owner.id] if owner is not None else []
    [row] = unit.rows(sql, parameters)
    written.problems.extend(_missing(item) for item, exists in zip(pointed, row, strict=False) if not exists)
    if caller is not None:
        refuse_disabled(row[len(pointed)], caller)
    if owner is not None:
        business_unit = row[-1]
        written.set(
            BUSINESS_UNIT, None if business_unit is None else Reference("businessunit", business_unit)
        )


class LookupSql(NamedTuple):
    """The lookups of `look_up` as parts of the statement that writes.

    `value` is an SQL expression of the owner's business unit, None where there is none to set. `condition`
    says that everything exists and that the caller may act. `parameters` are those of both, in this order.
    """

    value: str | None
    condition: str
    parameters: tuple[Guid, ...]


def lookup_sql(
    snapshot: Snapshot, written: WrittenValues, caller: Guid | None, owner: Reference | None
) -> LookupSql:
    """Return the lookups of `look_up` as SQL that the statement which writes the record takes in.

    That statement then checks by itself that the referenced records exist and that `caller` may act, and sets
    the business unit of `owner`. A business unit among `written` is taken out for it.
    """
    entities = tuple(item.entity for item in written.pointed)
    pointed = tuple(item.id for item in written.pointed)
    acting = () if caller is None else (caller,)
    business_unit_column = written.stored.columns.get(BUSINESS_UNIT)
    if owner is None or business_unit_column is None:
        value, condition = _value_and_condition(snapshot, entities, bool(acting), None)
        return LookupSql(value, condition, (*pointed, *acting))
    # The business unit is always the owner's, whatever was given.
    written.columns.pop(business_unit_column.name, None)
    value, condition = _value_and_condition(snapshot, entities, bool(acting), owner.entity)
    return LookupSql(value, condition, (owner.id, *pointed, *acting))


def _missing(item: ReferencedRecord) -> UnknownTarget:
    return UnknownTarget(item.attribute, f"There is no {item.entity} with id {item.id}.")


@cached_by_snapshot(1024)
def _lookup_statement(
    snapshot: Snapshot, entities: tuple[str, ...], with_caller: bool, owner_entity: str | None
) -> str:
    """Return the statement of `look_up`.

    Its one row says of each record whether it exists; then, if `with_caller`, whether the caller is enabled;
    last, unless `owner_entity` is None, the business unit of the owner, a record of that entity.
    """
    parts = _conditions(snapshot, entities, with_caller)
    if owner_entity is not None:
        parts.append(_business_unit(snapshot, owner_entity))
    return "SELECT " + ", ".join(parts)


@cached_by_snapshot(1024)
def _value_and_condition(
    snapshot: Snapshot, entities: tuple[str, ...], caller: bool, owner: str | None
) -> tuple[str | None, str]:
    """Return the first two fields of LookupSql. `owner` is the owner's entity."""
    value = None if owner is None else _business_unit(snapshot, owner)
    return value, " AND ".join(_conditions(snapshot, entities, caller)) or "TRUE"


def _conditions(snapshot: Snapshot, entities: tuple[str, ...], caller: bool) -> list[str]:
    """Return a condition for each of the records, of these entities, and one for the caller."""
    placeholder = snapshot.dialect.placeholder
    conditions = [f"EXISTS (SELECT 1 {_from_record(snapshot, entity, placeholder)})" for entity in entities]
    return [*conditions, is_enabled(snapshot)] if caller else conditions


def _business_unit(snapshot: Snapshot, owner: str) -> str:
    """Return the SQL of the business unit of the user or team whose id is the parameter."""
    column = quote(snapshot.entity(owner).columns["businessunitid"].name)
    return f"(SELECT {column} {_from_record(snapshot, owner, snapshot.dialect.placeholder)})"


def _from_record(snapshot: Snapshot, entity: str, placeholder: str) -> str:
    """Return FROM and WHERE for the record of `entity` whose id is the parameter."""
    stored = snapshot.entity(entity)
    return f"FROM {quote(stored.table)} WHERE {quote(stored.id_column.name)} = {placeholder}"
