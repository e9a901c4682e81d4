"""Where a file's bytes are kept: in the database by default, or in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from crmclient.values import Guid

BLOCK = 1024 * 1024
"""Bytes of a block: each is written in a short transaction of its own, so that no other writer waits long."""


class BlockStore(Protocol):
    """The bytes of files by the file's id. Nothing here says which record they belong to."""

    def write(self, file: Guid, number: int, content: bytes) -> None:
        """Keep block `number`, counted from 0; every block but the last holds BLOCK bytes.

        Raises OutOfSpace, Unavailable.
        """
        ...

    def finish(self, file: Guid) -> None:
        """All blocks are written: make them last."""
        ...

    def read(self, file: Guid, size: int, start: int, length: int) -> Iterator[bytes]:
        """`length` bytes from `start` on, in pieces, of a file that has `size`.

        Raises FileLost at once when that is not all there; the iterator raises it when it goes meanwhile.
        """
        ...

    def remove(self, file: Guid) -> None:
        """Forget all bytes; a file that is not there is no error."""
        ...
