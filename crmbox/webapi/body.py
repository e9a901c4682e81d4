"""A request's body: read as it comes, and never taken for whole when it was cut off."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from crmbox.webapi.errors import WebApiError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


PIECE: Final = 256 * 1024
"""Bytes that are read at once."""


class Body(io.RawIOBase):
    """The stream of a WSGI request. Raises WebApiError (400) when it ends before its announced length."""

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__()
        length = environ.get("CONTENT_LENGTH") or ""
        self._stream = environ["wsgi.input"]
        self._left = int(length) if length.isascii() and length.isdigit() else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        wanted = len(view) if self._left is None else min(len(view), self._left)
        piece = self._stream.read(wanted) if wanted else b""
        if self._left is not None:
            if wanted and not piece:
                raise WebApiError(400, "0x80048d19", "The body ended before its announced length.")
            self._left -= len(piece)
        view[: len(piece)] = piece
        return len(piece)


def body_of(environ: dict[str, Any]) -> BinaryIO:
    return io.BufferedReader(Body(environ), PIECE)
