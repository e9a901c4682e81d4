"""The files that exist, and the records that they belong to.

The bytes of a file are removed only after the transaction that removes the file has committed. An upload that
broke off without a chance to clean up leaves an unattached file, which `forget_abandoned` removes.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from crmbox.engine.connection import Unit, WriteUnit, write_unit
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.encoding import encode_timestamp
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.files.blocks import BlockStore
from crmbox.files.database_blocks import DatabaseBlocks
from crmbox.files.disk_blocks import DiskBlocks
from crmclient.errors import InvalidRecord, PlatformError, UnknownAttribute, WrongType
from crmclient.metadata import AttributeType
from crmclient.values import Guid

log = logging.getLogger(__name__)

# What `_remove` takes.
_RETURNING = "RETURNING id, entity, record, attribute"

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
    replaced_files = unit.rows(
        f"DELETE FROM crm_file WHERE record = {placeholder} AND attribute = {placeholder} AND attached "
        f"AND id <> {placeholder} {_RETURNING}",
        (record, attribute, file),
    )
    unit.execute(f"UPDATE crm_file SET attached = TRUE WHERE id = {placeholder}", (file,))
    _remove_later(unit, replaced_files)


def is_attached(unit: Unit, file: Guid) -> bool:
    """Whether a column has the file."""
    placeholder = unit.dialect.placeholder
    return bool(unit.rows(f"SELECT 1 FROM crm_file WHERE id = {placeholder} AND attached", (file,)))


def abandon(unit: WriteUnit, file: Guid) -> None:
    """Forget a file that will not be attached, and whose bytes are gone."""
    unit.execute(f"DELETE FROM crm_file WHERE id = {unit.dialect.placeholder} AND NOT attached", (file,))


def forget_abandoned(most: int, alias: str = DEFAULT_DB_ALIAS) -> int:
    """Remove up to `most` uploads that were begun long ago and never finished. Return their number."""
    with write_unit(alias) as unit:
        limit = encode_timestamp(unit.now - ABANDONED_AFTER)
        placeholder = unit.dialect.placeholder
        files = unit.rows(
            f"DELETE FROM crm_file WHERE id IN (SELECT id FROM crm_file WHERE NOT attached "
            f"AND begun_at < {placeholder} ORDER BY begun_at LIMIT {most:d}) {_RETURNING}",
            (limit,),
        )
        _remove_later(unit, files)
    return len(files)


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
            files = unit.rows(
                f"DELETE FROM crm_file WHERE record = {placeholder} AND attribute = {placeholder} "
                f"AND attached {_RETURNING}",
                (record, column.attribute.logical_name),
            )
            _remove_later(unit, files)


def forget_record(unit: WriteUnit, stored: StoredEntity, record: Guid) -> None:
    """Forget all files of a record that is being deleted."""
    if _file_columns(stored):
        placeholder = unit.dialect.placeholder
        files = unit.rows(f"DELETE FROM crm_file WHERE record = {placeholder} {_RETURNING}", (record,))
        _remove_later(unit, files)


def _remove_later(unit: WriteUnit, files: Iterable[tuple[Any, ...]]) -> None:
    """Remove the bytes of files when the transaction has committed. `files` are rows of `_RETURNING`."""
    for file in files:
        unit.after_commit(partial(_remove, unit.alias, *file))


def _remove(alias: str, file: Guid, entity: str, record: Guid, attribute: str) -> None:
    """Remove the bytes of a file that no record has any more; later, when they cannot be removed now.

    It does not fail: the write that has let go of the file is committed, and must not look as if it were not.
    """
    try:
        block_store(alias).remove(file)
    except PlatformError as error:
        log.warning(
            "The bytes of the file %s were not removed: %s They are removed by a later sweep.", file, error
        )
        with suppress(PlatformError), write_unit(alias) as unit:
            begin(unit, file, entity, record, attribute)


@lru_cache(maxsize=4096)
def _file_columns(stored: StoredEntity) -> tuple[StoredColumn, ...]:
    files = (AttributeType.FILE, AttributeType.IMAGE)
    return tuple(column for column in stored.columns.values() if column.attribute.type in files)
