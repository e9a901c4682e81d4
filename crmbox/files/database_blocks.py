"""Blocks as rows, which are in the database's backups and need no shared disk."""

from __future__ import annotations

import time
from collections.abc import Iterator

from crmbox.engine.connection import read_unit, write_unit
from crmbox.engine.deadlines import Work
from crmbox.files.blocks import BLOCK
from crmclient.errors import FileLost
from crmclient.platform import Call
from crmclient.values import Guid

BLOCK_SECONDS = 20.0
"""How long the database may take for a block of a file that is being sent."""


class DatabaseBlocks:
    """The blocks of files in the database `alias`. `BlockStore` says what each method does."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def write(self, file: Guid, number: int, content: bytes) -> None:
        with write_unit(self._alias) as unit:
            placeholder = unit.dialect.placeholder
            unit.execute(
                "INSERT INTO crm_file_block (file, number, content) "
                f"VALUES ({placeholder}, {placeholder}, {placeholder})",
                (file, number, content),
            )

    def finish(self, file: Guid) -> None:
        """Do nothing: every block has been committed."""

    def read(self, file: Guid, size: int, start: int, length: int) -> Iterator[bytes]:
        if self._size(file) != size:
            raise FileLost("The file's blocks are missing, or not all there.")
        return self._pieces(file, start, length)

    def _pieces(self, file: Guid, start: int, length: int) -> Iterator[bytes]:
        """Yield `length` bytes of a file from `start`, as one piece of each block. Raises FileLost."""
        end = start + length
        position = start
        while position < end:
            number, offset = divmod(position, BLOCK)
            piece = self._block(file, number)[offset : offset + end - position]
            if not piece:
                raise FileLost("The file was replaced or removed while it was read.")
            yield piece
            position += len(piece)

    def remove(self, file: Guid) -> None:
        with write_unit(self._alias) as unit:
            unit.execute(f"DELETE FROM crm_file_block WHERE file = {unit.dialect.placeholder}", (file,))

    def _size(self, file: Guid) -> int:
        with read_unit(self._alias) as unit:
            placeholder = unit.dialect.placeholder
            rows = unit.rows(
                f"SELECT COALESCE(SUM(LENGTH(content)), 0) FROM crm_file_block WHERE file = {placeholder}",
                (file,),
            )
        return int(rows[0][0])

    def _block(self, file: Guid, number: int) -> bytes:
        """Return a block of a file; no bytes for a block that is not there."""
        # Blocks are read while the answer is sent. The deadline of the call is over then, so each block has
        # a deadline of its own.
        call = Call(deadline=time.monotonic() + BLOCK_SECONDS)
        with Work(self._alias, call, None), read_unit(self._alias) as unit:
            placeholder = unit.dialect.placeholder
            rows = unit.rows(
                f"SELECT content FROM crm_file_block WHERE file = {placeholder} AND number = {placeholder}",
                (file, number),
            )
        return bytes(rows[0][0]) if rows else b""
