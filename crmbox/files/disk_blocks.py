"""Blocks in files of a folder: cheaper for large files, but every process must share the folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from crmbox.files.blocks import BLOCK
from crmclient.errors import FileLost, OutOfSpace, Unavailable
from crmclient.values import Guid

PIECE = 256 * 1024


class DiskBlocks:
    """Files at `folder/ab/<id>`, which are called `<id>.part` while they are written.

    `BlockStore` says what each method does.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    def write(self, file: Guid, number: int, content: bytes) -> None:
        part = self._part(file)
        with _as_platform_errors():
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("r+b" if part.exists() else "wb") as target:
                target.seek(number * BLOCK)
                target.write(content)

    def finish(self, file: Guid) -> None:
        """Make a file that is written whole readable: flush it to the disk, and give it its final name."""
        part = self._part(file)
        with _as_platform_errors():
            part.parent.mkdir(parents=True, exist_ok=True)
            # Opened to append, because an empty file has no block and so no part yet.
            with part.open("ab") as target:
                os.fsync(target.fileno())
            part.replace(self._path(file))

    def read(self, file: Guid, size: int, start: int, length: int) -> Iterator[bytes]:
        """Return an iterator over `length` bytes from `start`. `size` is what the whole file should have.

        Raises FileLost and Unavailable at once, before any bytes are sent.
        """
        # An open file stays readable, even when it is replaced meanwhile.
        try:
            source = self._path(file).open("rb")
        except FileNotFoundError:
            raise FileLost("The file is not in the folder.") from None
        except OSError as error:
            raise Unavailable(f"The file cannot be opened: {error.strerror}.") from error
        present_size = os.fstat(source.fileno()).st_size
        if present_size != size:
            source.close()
            raise FileLost(f"The file should have {size} bytes, and has {present_size}.")
        source.seek(start)
        return _Pieces(source, length)

    def remove(self, file: Guid) -> None:
        with _as_platform_errors():
            self._path(file).unlink(missing_ok=True)
            self._part(file).unlink(missing_ok=True)

    def _path(self, file: Guid) -> Path:
        return self._folder / file[:2] / file

    def _part(self, file: Guid) -> Path:
        return self._path(file).with_suffix(".part")


class _Pieces(Iterator[bytes]):
    """The next `length` bytes of an open file, which is closed at their end, or by `close`."""

    def __init__(self, source: BinaryIO, length: int) -> None:
        self._source = source
        self._left = length

    def __next__(self) -> bytes:
        """Return the next piece. Raises FileLost where the file ends too early."""
        if not self._left:
            self.close()
            raise StopIteration
        piece = self._source.read(min(PIECE, self._left))
        if not piece:
            self.close()
            raise FileLost("The file was cut off while it was read.")
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._source.close()


@contextmanager
def _as_platform_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutOfSpace("There is no room left in the folder of files.") from error
        raise Unavailable(f"The folder of files cannot be written to: {error.strerror}.") from error
