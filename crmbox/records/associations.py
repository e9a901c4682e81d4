"""Associating and disassociating two records: rows of the intersect table of a many-to-many relationship."""

from __future__ import annotations

from typing import NamedTuple

from crmbox.engine.connection import WriteUnit
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredEntity, cached_by_snapshot
from crmbox.records.callers import check_caller
from crmbox.records.statements import VERSION, record_id
from crmclient.errors import RecordNotFound, UnknownRelationship
from crmclient.values import Guid, new_guid


class _Pair(NamedTuple):
    """The two entities of a relationship as seen from the first, and the SQL about them.

    `insert_sql` and `delete_sql` write and delete the row of the pair; `exist_sql` says of each record
    whether it exists. Parameters of `insert_sql` are the new row's id, the two records, the version, and the
    two records again; those of the others are the two records.
    """

    own: StoredEntity
    other: StoredEntity
    insert_sql: str
    delete_sql: str
    exist_sql: str


def associate(
    unit: WriteUnit, entity: str, id: Guid, relationship: str, related: Guid, *, caller: Guid | None = None
) -> None:
    """Associate two records. Raises the errors of `Platform.associate`."""
    pair, ids = _pair_and_ids(unit, entity, id, relationship, related, caller)
    # The unique key of the pair decides whether the two are associated already, not a query beforehand. The
    # ids are given twice: as the values of the row, and to check that both records exist.
    if not unit.execute(pair.insert_sql, (new_guid(), *ids, unit.version, *ids)):
        _refuse_missing(unit, pair, ids)


def disassociate(
    unit: WriteUnit, entity: str, id: Guid, relationship: str, related: Guid, *, caller: Guid | None = None
) -> None:
    """Disassociate two records. Raises the errors of `Platform.disassociate`."""
    pair, ids = _pair_and_ids(unit, entity, id, relationship, related, caller)
    if not unit.execute(pair.delete_sql, ids):
        _refuse_missing(unit, pair, ids)


def _pair_and_ids(
    unit: WriteUnit, entity: str, id: Guid, relationship: str, related: Guid, caller: Guid | None
) -> tuple[_Pair, tuple[Guid, Guid]]:
    """Return the relationship, and the ids of the two records as stored. Check the caller."""
    pair = _pair(unit.snapshot, entity, relationship)
    check_caller(unit, caller)
    return pair, (record_id(pair.own, id), record_id(pair.other, related))


def _refuse_missing(unit: WriteUnit, pair: _Pair, ids: tuple[Guid, Guid]) -> None:
    """Raise RecordNotFound unless both records exist. If they do, there was nothing to do."""
    [row] = unit.rows(pair.exist_sql, ids)
    for stored, id, exists in zip((pair.own, pair.other), ids, row, strict=True):
        if not exists:
            raise RecordNotFound(stored.entity.logical_name, id)


@cached_by_snapshot(1024)
def _pair(snapshot: Snapshot, entity: str, relationship: str) -> _Pair:
    """Return a many-to-many relationship as seen from `entity`. Raises UnknownRelationship."""
    stored = snapshot.entity(entity)
    for candidate in snapshot.relationships_of(entity):
        other = candidate.other_end(entity)
        if candidate.name == relationship and other is not None and candidate.intersect is not None:
            related = snapshot.entity(other)
            return _pair_with_sql(
                snapshot.dialect.placeholder,
                stored,
                related,
                snapshot.entity(candidate.intersect),
                candidate.pair_attributes(stored.entity, related.entity),
            )
    raise UnknownRelationship(entity, relationship)


def _pair_with_sql(
    placeholder: str,
    stored: StoredEntity,
    other: StoredEntity,
    pairs: StoredEntity,
    attributes: tuple[str, str],
) -> _Pair:
    """Return the statements for one many-to-many relationship.

    `stored` and `other` are the two entities, `pairs` is the intersect entity, and `attributes` are its two
    ids in the same order. `placeholder` is that of the dialect.
    """
    table = quote(pairs.table)
    ends = [quote(pairs.columns[attribute].name) for attribute in attributes]
    columns = ", ".join([quote(pairs.id_column.name), *ends, quote(pairs.columns[VERSION].name)])
    exist = [
        f"EXISTS (SELECT 1 FROM {quote(end.table)} WHERE {quote(end.id_column.name)} = {placeholder})"
        for end in (stored, other)
    ]
    return _Pair(
        stored,
        other,
        # SELECT, with a condition of its own: SQLite would read ON CONFLICT as part of a join without one.
        insert_sql=f"INSERT INTO {table} ({columns}) "
        f"SELECT {placeholder}, {placeholder}, {placeholder}, {placeholder} "
        f"WHERE {exist[0]} AND {exist[1]} ON CONFLICT DO NOTHING",
        delete_sql=f"DELETE FROM {table} WHERE {ends[0]} = {placeholder} AND {ends[1]} = {placeholder}",
        exist_sql=f"SELECT {exist[0]}, {exist[1]}",
    )
