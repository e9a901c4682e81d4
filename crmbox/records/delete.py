"""Deleting a record, with the effects that its relationships have on records that refer to it."""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.engine.connection import WriteUnit
from crmbox.engine.identities import ROOT_BUSINESS_UNIT, SERVICE_USER
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredColumn, StoredEntity, cached_by_snapshot
from crmbox.files.registry import forget_record
from crmbox.records import deletions
from crmbox.records.callers import check_caller
from crmbox.records.statements import (
    delete_sql,
    record_id,
    version_condition,
    version_number,
    why_no_row_was_written,
    written_entity,
)
from crmclient.errors import StateConflict
from crmclient.metadata import Cascade
from crmclient.values import Guid

_PERMANENT = frozenset({("businessunit", ROOT_BUSINESS_UNIT), ("systemuser", SERVICE_USER)})


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A column that refers to the entity, and what a delete does to its records."""

    stored: StoredEntity
    column: StoredColumn
    on_delete: Cascade
    relationship: str


def delete(
    unit: WriteUnit,
    entity: str,
    id: Guid,
    *,
    if_version: str | None = None,
    caller: Guid | None = None,
) -> None:
    """Delete a record. Raises the errors of `Platform.delete`."""
    stored = written_entity(unit.snapshot, entity)
    check_caller(unit, caller)
    record = record_id(stored, id)
    if (entity, record) in _PERMANENT:
        raise StateConflict(f"The {entity} {record} is the platform's own and stays.")
    placeholder = unit.dialect.placeholder
    sql = delete_sql(stored, placeholder)
    parameters: list[str | int] = [record]
    if if_version is not None:
        sql += version_condition(stored, placeholder)
        parameters.append(version_number(entity, record, if_version))
    if not unit.execute(sql, parameters):
        raise why_no_row_was_written(unit, stored, record)
    _apply_effects(unit, stored, record)


def _apply_effects(unit: WriteUnit, stored: StoredEntity, record: Guid) -> None:
    """Do what follows from the deletion of a record, for its files and for records that refer to it.

    Each relationship says which: records that refer to it forbid the deletion, are deleted as well (with the
    effects of that), or lose the reference. Raises StateConflict where they forbid it.
    """
    deletions.note(unit, stored, record)
    forget_record(unit, stored, record)
    entity = stored.entity.logical_name
    for pointer in _pointers(unit.snapshot, entity):
        if pointer.on_delete is Cascade.REMOVE_LINK:
            _remove_link(unit, pointer, entity, record)
            continue
        for [child] in _referring_records(unit, pointer, entity, record):
            # Whatever does not restrict, and does not only remove the link, deletes the child.
            if pointer.on_delete is Cascade.RESTRICT:
                child_entity = pointer.stored.entity.logical_name
                raise StateConflict(
                    f"The {entity} {record} cannot be deleted: a {child_entity} refers to it "
                    f"({pointer.relationship})."
                )
            # The deletion of an earlier child may have deleted this one, too.
            if unit.execute(delete_sql(pointer.stored, unit.dialect.placeholder), (child,)):
                _apply_effects(unit, pointer.stored, child)


def _remove_link(unit: WriteUnit, pointer: _Pointer, entity: str, record: Guid) -> None:
    """Empty the lookup `pointer` of the records that point at the deleted one."""
    placeholder = unit.dialect.placeholder
    emptied = [name for name in (pointer.column.name, pointer.column.target) if name is not None]
    version = quote(pointer.stored.columns["versionnumber"].name)
    changes = ", ".join([*(f"{quote(name)} = NULL" for name in emptied), f"{version} = {placeholder}"])
    where_clause, parameters = _condition(pointer, entity, record, placeholder)
    unit.execute(
        f"UPDATE {quote(pointer.stored.table)} SET {changes} {where_clause}", (unit.version, *parameters)
    )


def _referring_records(unit: WriteUnit, pointer: _Pointer, entity: str, record: Guid) -> list[tuple[Guid]]:
    """Return rows with the ids of the records that point at `record` of `entity` by the column `pointer`."""
    where_clause, parameters = _condition(pointer, entity, record, unit.dialect.placeholder)
    id_column = quote(pointer.stored.id_column.name)
    return unit.rows(f"SELECT {id_column} FROM {quote(pointer.stored.table)} {where_clause}", parameters)


def _condition(pointer: _Pointer, entity: str, record: Guid, placeholder: str) -> tuple[str, tuple[str, ...]]:
    """Return WHERE with the records that refer to `record` of `entity`, and its parameters."""
    where_clause = f"WHERE {quote(pointer.column.name)} = {placeholder}"
    if pointer.column.target is None:
        return where_clause, (record,)
    return f"{where_clause} AND {quote(pointer.column.target)} = {placeholder}", (record, entity)


@cached_by_snapshot(1024)
def _pointers(snapshot: Snapshot, entity: str) -> tuple[_Pointer, ...]:
    """Return the columns that refer to the entity.

    Those that restrict come first, to refuse before any other work.
    """
    pointers = []
    for relationship in snapshot.relationships_of(entity):
        if relationship.intersect is not None:
            # A pair goes with either of its records. Where both are of this entity, both columns refer to it.
            stored = snapshot.entity(relationship.intersect)
            ends = [
                snapshot.entity(end).entity for end in (relationship.referenced, relationship.referencing)
            ]
            for end, attribute in zip(ends, relationship.pair_attributes(*ends), strict=True):
                if end.logical_name == entity:
                    pointers.append(
                        _Pointer(stored, stored.columns[attribute], Cascade.DELETE, relationship.name)
                    )
        elif relationship.referenced == entity and relationship.referencing_attribute is not None:
            stored = snapshot.entity(relationship.referencing)
            if stored.definition.is_view:
                # The entities that it shows refer to the record by relationships of their own.
                continue
            column = stored.columns[relationship.referencing_attribute]
            pointers.append(_Pointer(stored, column, relationship.on_delete, relationship.name))
    return tuple(sorted(pointers, key=lambda pointer: pointer.on_delete is not Cascade.RESTRICT))
