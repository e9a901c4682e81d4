"""The files that exist, and the records that they belong to.

The bytes of a file are removed only after the transaction that removes the file has committed. An upload that
broke off without a chance to clean up leaves an unattached file, which `forget_abandoned` removes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from crmbox.engine.connection import WriteUnit, write_unit
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.encoding import encode_timestamp
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.files.blocks import BlockStore
from crmbox.files.database_blocks import DatabaseBlocks
from crmbox.files.disk_blocks import DiskBlocks
from crmclient.errors import InvalidRecord, UnknownAttribute, WrongType
from crmclient.metadata import AttributeType
from crmclient.values import Guid

ABANDONED_AFTER = dt.timedelta(days=1)
"""How long after its beginning an upload counts as abandoned."""


def file_column(stored: StoredEntity, attribute: str) -> StoredColumn:
    """Return the column of `attribute`. Raises InvalidRecord unless it is a file or image column."""
    entity = stored.entity.logical_name
    column = stored.columns.get(attribute)
    if column is None:
        raise InvalidRecord(entity, [UnknownAttribute(attribute, f"{entity} has no such attribute.")])
    if column.attribute.type not in (AttributeType.FILE, AttributeType.IMAGE):
        raise InvalidRecord(entity, [WrongType(attribute, "It is no file or image column.")])
    return column


def block_store(alias: str) -> BlockStore:
    """Return the store of file contents: the database `alias`, or the folder `files` of DATA_DIR."""
    if settings.PORTICO["CRM_FILES"] == "disk":
        return DiskBlocks(Path(settings.DATA_DIR) / "files")
    return DatabaseBlocks(alias)


def begin(unit: WriteUnit, file: Guid, entity: str, record: Guid, attribute: str) -> None:
    """Note that an upload of `file` to a column of a record has begun.

    If it is never finished, `forget_abandoned` finds it by this note and removes it.
    """
    placeholder = unit.dialect.placeholder
    unit.execute(
        f"INSERT INTO crm_file (id, entity, record, attribute, attached, begun_at) "
        f"VALUES ({', '.join([placeholder] * 6)})",
        (file, entity, record, attribute, False, encode_timestamp(unit.now)),
    )


def attach(unit: WriteUnit, file: Guid, record: Guid, attribute: str) -> None:
    """Make `file` the content of its column, and remove the file that the column had before."""
    placeholder = unit.dialect.placeholder
    replaced_ids = unit.rows(
        f"DELETE FROM crm_file WHERE record = {placeholder} AND attribute = {placeholder} AND attached "
        f"AND id <> {placeholder} RETURNING id",
        (record, attribute, file),
    )
    unit.execute(f"UPDATE crm_file SET attached = TRUE WHERE id = {placeholder}", (file,))
    _remove_later(unit, replaced_ids)


def abandon(unit: WriteUnit, file: Guid) -> None:
    """Forget a file that will not be attached, and whose bytes are gone."""
    unit.execute(f"DELETE FROM crm_file WHERE id = {unit.dialect.placeholder} AND NOT attached", (file,))


def forget_abandoned(most: int, alias: str = DEFAULT_DB_ALIAS) -> int:
    """Remove up to `most` uploads that were begun long ago and never finished. Return their number."""
    with write_unit(alias) as unit:
        limit = encode_timestamp(unit.now - ABANDONED_AFTER)
        placeholder = unit.dialect.placeholder
        file_ids = unit.rows(
            f"DELETE FROM crm_file WHERE id IN (SELECT id FROM crm_file WHERE NOT attached "
            f"AND begun_at < {placeholder} ORDER BY begun_at LIMIT {most:d}) RETURNING id",
            (limit,),
        )
        _remove_later(unit, file_ids)
    return len(file_ids)


def clears_files(stored: StoredEntity, written: Mapping[str, DbValue]) -> bool:
    """Whether the write touches a file column, so that `detach_cleared` is needed."""
    return any(column.name in written for column in _file_columns(stored))


def detach_cleared(
    unit: WriteUnit, stored: StoredEntity, written: Mapping[str, DbValue], record: Guid
) -> None:
    """Remove the files of the file columns among `written` (values by column name).

    An update can only clear a file column, so each one among the values was cleared.
    """
    for column in _file_columns(stored):
        if column.name in written:
            placeholder = unit.dialect.placeholder
            file_ids = unit.rows(
                f"DELETE FROM crm_file WHERE record = {placeholder} AND attribute = {placeholder} "
                "AND attached RETURNING id",
                (record, column.attribute.logical_name),
            )
            _remove_later(unit, file_ids)


def forget_record(unit: WriteUnit, stored: StoredEntity, record: Guid) -> None:
    """Forget all files of a record that is being deleted."""
    if _file_columns(stored):
        placeholder = unit.dialect.placeholder
        file_ids = unit.rows(f"DELETE FROM crm_file WHERE record = {placeholder} RETURNING id", (record,))
        _remove_later(unit, file_ids)


def _remove_later(unit: WriteUnit, files: Iterable[tuple[Guid]]) -> None:
    """Remove the bytes of files when the transaction has committed. `files` are rows with an id each."""
    store = block_store(unit.alias)
    for (file,) in files:
        unit.after_commit(lambda file=file: store.remove(file))  # type: ignore[misc]


@lru_cache(maxsize=4096)
def _file_columns(stored: StoredEntity) -> tuple[StoredColumn, ...]:
    files = (AttributeType.FILE, AttributeType.IMAGE)
    return tuple(column for column in stored.columns.values() if column.attribute.type in files)
