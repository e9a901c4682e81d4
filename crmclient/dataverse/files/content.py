"""The content of an upload: its size is known beforehand, and it is read piece by piece, more than once."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from crmclient import exact_json

PIECE: Final = 3 * 64 * 1024
"""Divisible by three, so that the base64 of pieces is the base64 of the whole."""

_IN_MEMORY: Final = 4 * 1024 * 1024


class Content:
    """The content of a stream, from the position that it had at first. `size` is in bytes."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._start = stream.tell()
        self.size = size

    def read(self, start: int, length: int) -> bytes:
        """Return exactly `length` bytes from byte `start` on. Raises OSError when the stream has become
        shorter.
        """
        self._stream.seek(self._start + start)
        pieces: list[bytes] = []
        while length and (piece := self._stream.read(length)):
            pieces.append(piece)
            length -= len(piece)
        if length:
            raise OSError("The file ended before its size.")
        return b"".join(pieces)


class Base64Object:
    """A JSON object with `texts` and, under `name`, the content in base64: written as it is iterated."""

    def __init__(self, texts: dict[str, str], name: str, content: Content) -> None:
        head = exact_json.render({**texts, name: ""})
        # It ends with `""}`. The content goes before the last two bytes, between the quotation marks.
        self._head, self._tail = head[:-2], head[-2:]
        self._content = content
        # Base64 makes four bytes of three, and of what is left at the end.
        self.length = len(head) + 4 * ((content.size + 2) // 3)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the JSON in pieces, `length` bytes in all. Each iteration reads the content anew."""
        yield self._head
        for start in range(0, self._content.size, PIECE):
            yield base64.b64encode(self._content.read(start, min(PIECE, self._content.size - start)))
        yield self._tail


@contextmanager
def measured(stream: BinaryIO, limit: int | None) -> Iterator[Content | None]:
    """Yield the content of a stream; None when it is larger than `limit` bytes.

    A stream whose size is unknown is copied first, to a temporary file unless it is small.
    """
    size = _size_of(stream)
    if size is not None:
        yield None if limit is not None and size > limit else Content(stream, size)
        return
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
        while piece := stream.read(PIECE):
            copy.write(piece)
            if limit is not None and copy.tell() > limit:
                yield None
                return
        size = copy.tell()
        copy.seek(0)
        yield Content(cast(BinaryIO, copy), size)


def _size_of(stream: BinaryIO) -> int | None:
    """Return the bytes from the stream's position to its end; None for a stream that cannot be searched."""
    try:
        start = stream.tell()
        end = stream.seek(0, os.SEEK_END)
        stream.seek(start)
    except (AttributeError, OSError, ValueError):
        return None
    return end - start
