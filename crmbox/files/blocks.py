"""The interface of stores for the bytes of files: the database by default, or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from crmclient.values import Guid

BLOCK = 1024 * 1024
"""Bytes of a block: each is written in a short transaction of its own, so that no other writer waits long."""


class BlockStore(Protocol):
    """The bytes of files by the file's id. Nothing here says which record they belong to."""

    def write(self, file: Guid, number: int, content: bytes) -> None:
        """Store block `number`, counted from 0. Every block but the last has BLOCK bytes.

        Raises OutOfSpace and Unavailable.
        """
        ...

    def finish(self, file: Guid) -> None:
        """Make all blocks last: every one has been written."""
        ...

    def read(self, file: Guid, size: int, start: int, length: int) -> Iterator[bytes]:
        """Return `length` bytes from `start` on, in pieces, of a file with `size` bytes.

        Raises FileLost at once when the file is not complete; the iterator raises it when the file goes
        later.
        """
        ...

    def remove(self, file: Guid) -> None:
        """Remove all bytes of a file. It is no error if there are none."""
        ...
