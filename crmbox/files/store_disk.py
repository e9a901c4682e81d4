"""Blocks as files in a folder: cheaper for large files, and a folder that every process must share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from crmbox.files.blocks import BLOCK
from crmclient.errors import UnexpectedAnswer
from crmclient.values import Guid

PIECE = 256 * 1024


class DiskBlocks:
    """`folder/ab/<id>`, and `<id>.part` while it is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    def write(self, file: Guid, number: int, content: bytes) -> None:
        part = self._part(file)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("r+b" if part.exists() else "wb") as target:
            target.seek(number * BLOCK)
            target.write(content)

    def finish(self, file: Guid) -> None:
        part = self._part(file)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as target:
            os.fsync(target.fileno())
        part.replace(self._path(file))

    def read(self, file: Guid, start: int, length: int) -> Iterator[bytes]:
        try:
            source = self._path(file).open("rb")
        except FileNotFoundError:
            raise UnexpectedAnswer("The file was replaced or removed while it was read.") from None
        with source:
            source.seek(start)
            while length:
                piece = source.read(min(PIECE, length))
                if not piece:
                    raise UnexpectedAnswer("The file ends before its recorded size.")
                yield piece
                length -= len(piece)

    def remove(self, file: Guid) -> None:
        self._path(file).unlink(missing_ok=True)
        self._part(file).unlink(missing_ok=True)

    def _path(self, file: Guid) -> Path:
        return self._folder / file[:2] / file

    def _part(self, file: Guid) -> Path:
        return self._path(file).with_suffix(".part")
