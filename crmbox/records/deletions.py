"""Changes since a row version. Deleted records are noted for this, because nothing else remains of them."""

from __future__ import annotations

import datetime as dt

from crmbox.engine.connection import ReadUnit, Unit, WriteUnit, write_unit
from crmbox.engine.encoding import encode_timestamp
from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredEntity
from crmbox.records.statements import VERSION
from crmclient.errors import InvalidQuery
from crmclient.optional_abilities import RecordChanges
from crmclient.values import Guid

KEPT = dt.timedelta(days=7)
"""How long deletions are kept: as long as Dataverse's delta links are valid by default."""


def note(unit: WriteUnit, stored: StoredEntity, record: Guid) -> None:
    """Note that `record` has been deleted, unless its entity has no row versions to ask by."""
    if VERSION not in stored.columns:
        return
    placeholder = unit.dialect.placeholder
    unit.execute(
        f"INSERT INTO crm_deletion (entity, record, row_version, deleted_at) "
        f"VALUES ({placeholder}, {placeholder}, {placeholder}, {placeholder})",
        (stored.entity.logical_name, record, unit.version, encode_timestamp(unit.now)),
    )


def deleted_since(unit: Unit, entity: str, version: int) -> list[Guid]:
    """Return the records that were deleted after a row version, in that order."""
    placeholder = unit.dialect.placeholder
    rows = unit.rows(
        f"SELECT record FROM crm_deletion WHERE entity = {placeholder} AND row_version > {placeholder} "
        "ORDER BY row_version, id",
        (entity, version),
    )
    return [str(record) for [record] in rows]


def current_version(unit: Unit) -> int:
    """Return the row version of the latest write."""
    [[version]] = unit.rows("SELECT row_version FROM crm_revision")
    return int(version)


def record_changes(unit: ReadUnit, entity: str, mark: str | None) -> RecordChanges | None:
    """Return whether records of an entity have changed since `mark`, and the mark to ask with the next time.

    A mark is a row version as text; None: the caller asks for the first time, and gets a mark only. Return
    None for a text that is no mark. Raises UnknownEntity, and InvalidQuery for an entity without versions.
    """
    stored = unit.snapshot.entity(entity)
    if not stored.entity.tracks_changes:
        raise InvalidQuery(f"The records of {entity} have no version.")
    # Read first, because on PostgreSQL each statement sees the data of its own moment: a write after this is
    # told again the next time, rather than never.
    version = current_version(unit)
    if mark is None:
        return RecordChanges(str(version), any=False)
    if not (mark.isascii() and mark.isdigit()):
        return None
    column, placeholder = quote(stored.columns[VERSION].name), unit.dialect.placeholder
    changed = unit.rows(
        f"SELECT 1 FROM {quote(stored.table)} WHERE {column} > {placeholder} LIMIT 1", (int(mark),)
    )
    return RecordChanges(str(version), bool(changed or deleted_since(unit, entity, int(mark))))


def forget_old(most: int) -> int:
    """Remove at most `most` of the notes that are too old to be asked for. Return their number."""
    with write_unit() as unit:
        placeholder = unit.dialect.placeholder
        return unit.execute(
            f"DELETE FROM crm_deletion WHERE id IN (SELECT id FROM crm_deletion "
            f"WHERE deleted_at < {placeholder} ORDER BY deleted_at LIMIT {int(most)})",
            (encode_timestamp(unit.now - KEPT),),
        )
