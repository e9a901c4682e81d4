"""Uploading and downloading the file in a column of a record, in blocks.

An upload has a transaction for each block, and a last small one that moves the column's pointer. A download
holds none open between its pieces.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from crmbox.engine.connection import WriteUnit, read_unit, write_unit
from crmbox.engine.deadlines import check_deadline
from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.files import registry
from crmbox.files.blocks import BLOCK
from crmbox.files.images import NO_IMAGE, with_image_type
from crmbox.files.registry import block_store, file_column
from crmbox.files.thumbnails import thumbnail
from crmbox.records.callers import check_caller
from crmbox.records.retrieve import retrieve
from crmbox.records.statements import record_id, store, version_number, where_id
from crmbox.records.written_values import WrittenValues
from crmclient.errors import (
    InvalidRecord,
    OutOfRange,
    PlatformError,
    RecordNotFound,
    Refused,
    TooLong,
    VersionMismatch,
    WrongType,
)
from crmclient.limits import check_file
from crmclient.metadata import AttributeType
from crmclient.platform import Call
from crmclient.values import Download, FileInfo, Guid, Value, new_guid


class Upload:
    """One upload. `run` reads `content` in blocks, whatever its size."""

    def __init__(
        self, alias: str, entity: str, record: Guid, attribute: str, if_version: str | None, call: Call
    ) -> None:
        """Prepare an upload to the column `attribute` of a record, which must have the version `if_version`.

        None: any version.
        """
        self._alias = alias
        self._entity = entity
        self._record = record
        self._attribute = attribute
        self._if_version = if_version
        self._call = call
        # The id of the new file. The one that the column has now stays until the new one is attached.
        self._file = new_guid()
        self._begun = False

    def run(self, content: BinaryIO, file_name: str, content_type: str) -> FileInfo:
        """Upload the content. Raises the errors of `Platform.upload`.

        After an error the column is as before. Call `abandon` then.
        """
        check_file(self._entity, self._attribute, file_name, content_type)
        # Note the file, write its blocks outside of any transaction, then make the column point at it.
        column = self._begin()
        if _is_image(column):
            image_type, content = with_image_type(content)
            if image_type is None:
                raise Refused(NO_IMAGE)
            # The type that the bytes show counts, not the type that was sent.
            content_type = image_type
        size = self._write_blocks(_content_to_store(column, content), column.attribute.max_size)
        info = FileInfo(self._file, file_name, size, content_type)
        self._attach(info)
        return info

    def abandon(self) -> None:
        """Remove everything of an upload that failed. What cannot be removed now is removed later."""
        if not self._begun or self._may_be_attached():
            return
        # Nothing refers to the bytes, so they are removed at once, even when the database takes no writes.
        with suppress(PlatformError):
            block_store(self._alias).remove(self._file)
        with suppress(PlatformError), write_unit(self._alias) as unit:
            registry.abandon(unit, self._file)

    def _may_be_attached(self) -> bool:
        """Whether the column may have the new file: an error can also come after the commit, or instead of
        its answer.
        """
        try:
            with read_unit(self._alias) as unit:
                return registry.is_attached(unit, self._file)
        except PlatformError:
            return True

    def _begin(self) -> StoredColumn:
        """Note the new file, and return the column that it is for.

        Checks the record, its version and the caller.
        """
        with write_unit(self._alias) as unit:
            stored = unit.snapshot.entity(self._entity)
            column = file_column(stored, self._attribute)
            self._record = record_id(stored, self._record)
            check_caller(unit, self._call.caller)
            self._check_version(unit, stored)
            registry.begin(unit, self._file, self._entity, self._record, self._attribute)
        self._begun = True
        return column

    def _check_version(self, unit: WriteUnit, stored: StoredEntity) -> None:
        """Raise RecordNotFound or VersionMismatch unless the record is as the caller knows it."""
        version = quote(stored.columns["versionnumber"].name)
        rows = unit.rows(
            f"SELECT {version} FROM {quote(stored.table)} {where_id(stored, unit.dialect.placeholder)}",
            (self._record,),
        )
        if not rows:
            raise RecordNotFound(self._entity, self._record)
        if self._if_version is not None:
            expected = version_number(self._entity, self._record, self._if_version)
            if rows[0][0] != expected:
                raise VersionMismatch(self._entity, self._record)

    def _write_blocks(self, content: BinaryIO, limit: int | None) -> int:
        """Write the content block by block, and return its size in bytes. Raises InvalidRecord
        above `limit`.
        """
        blocks = block_store(self._alias)
        size = 0
        for number, block in enumerate(_blocks(content)):
            check_deadline(self._call)
            size += len(block)
            if limit is not None and size > limit:
                raise InvalidRecord(
                    self._entity, [TooLong(self._attribute, f"A file of at most {limit} bytes.")]
                )
            blocks.write(self._file, number, block)
        blocks.finish(self._file)
        return size

    def _attach(self, info: FileInfo) -> None:
        """Let the record's column point at the new file, and write its facts, such as name and size."""
        with write_unit(self._alias) as unit:
            stored = unit.snapshot.entity(self._entity)
            # Checked again, because the metadata may have changed during the upload.
            file_column(stored, self._attribute)
            written = WrittenValues(unit.snapshot, stored)
            written.set(self._attribute, info)
            for name, value in _file_facts(stored, self._attribute, info):
                written.set(name, value)
            store(unit, written, self._record, if_version=self._if_version, caller=self._call.caller)
            registry.attach(unit, self._file, self._record, self._attribute)


def _blocks(content: BinaryIO) -> Iterator[bytes]:
    """Yield the content in full blocks, however small the pieces are that the source gives."""
    buffer = bytearray()
    while piece := content.read(BLOCK - len(buffer)):
        buffer += piece
        if len(buffer) == BLOCK:
            yield bytes(buffer)
            buffer.clear()
    if buffer:
        yield bytes(buffer)


def _file_facts(stored: StoredEntity, attribute: str, info: FileInfo) -> Iterator[tuple[str, Value]]:
    """Yield each attribute that repeats a fact of the file in the column `attribute`, with its new value."""
    for name, column in stored.columns.items():
        fact = column.definition.file_fact
        if fact is not None and fact.file == attribute:
            yield name, True if fact.fact == "present" else getattr(info, fact.fact)


def download(
    alias: str,
    entity: str,
    record: Guid,
    attribute: str,
    start: int,
    length: int | None,
    known: FileInfo | None = None,
) -> Download | None:
    """Return the file, or `length` bytes of it from `start`; None where the column is empty.

    `known` is the file as the caller has read it already, which saves reading the record. Raises the errors
    of `Platform.download`, and InvalidRecord for a range that begins behind the end of the file. FileLost is
    raised here, before the answer begins.
    """
    info: Value = known
    if known is None:
        with read_unit(alias) as unit:
            file_column(unit.snapshot.entity(entity), attribute)
            info = retrieve(unit, entity, record, (attribute,)).values[attribute]
    if not isinstance(info, FileInfo):
        return None
    if not 0 <= start <= info.size or (length is not None and length < 0):
        raise InvalidRecord(entity, [OutOfRange(attribute, f"The file has {info.size} bytes.")])
    available = info.size - start
    served_length = available if length is None else min(length, available)
    return Download(
        info, start, served_length, block_store(alias).read(info.id, info.size, start, served_length)
    )


def image_thumbnail(alias: str, entity: str, record: Guid, attribute: str) -> Download | None:
    """Return the thumbnail of an image; None where the column is empty or the image cannot be scaled.

    Raises the errors of `Platform.thumbnail`.
    """
    with read_unit(alias) as unit:
        if not _is_image(file_column(unit.snapshot.entity(entity), attribute)):
            raise InvalidRecord(entity, [WrongType(attribute, "It is no image column.")])
    image = download(alias, entity, record, attribute, 0, None)
    thumbnail_bytes = None if image is None else thumbnail(b"".join(image.chunks))
    if image is None or thumbnail_bytes is None:
        return None
    return Download(
        replace(image.info, size=len(thumbnail_bytes)), 0, len(thumbnail_bytes), iter((thumbnail_bytes,))
    )


def _is_image(column: StoredColumn) -> bool:
    return column.attribute.type is AttributeType.IMAGE


def _content_to_store(column: StoredColumn, content: BinaryIO) -> BinaryIO:
    """Return the content to store: for an image without a full-size copy, only its thumbnail.

    Raises Refused for an image that has no thumbnail, because of which nothing would be left to keep.
    """
    limit = column.attribute.max_size
    if not _is_image(column) or column.definition.full_image or limit is None:
        return content
    # One byte more than allowed tells that content is too large. It is passed on as it is, to be refused.
    full_size = content.read(limit + 1)
    if len(full_size) > limit:
        return io.BytesIO(full_size)
    small = thumbnail(full_size)
    if small is None:
        raise Refused(NO_IMAGE)
    return io.BytesIO(small)
