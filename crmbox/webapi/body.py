"""A request's body: read as it comes, never taken for whole when it was cut off, and parsed without loss."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from crmbox.webapi.errors import WebApiError, bad_payload
from crmclient import exact_json

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE: Final = 256 * 1024
"""Bytes that are read at once."""


class Body(io.RawIOBase):
    """The stream of the body of a WSGI request.

    Reading raises WebApiError (400) if the body ends before its announced length.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__()
        length = environ.get("CONTENT_LENGTH") or ""
        self._stream = environ["wsgi.input"]
        # The bytes that are still to come; None if the request does not say how many.
        self._left = int(length) if length.isascii() and length.isdigit() else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes into the buffer, at most as many as fit. Return their number; 0 at the end."""
        view = memoryview(buffer).cast("B")
        length = len(view) if self._left is None else min(len(view), self._left)
        piece = self._stream.read(length) if length else b""
        if self._left is not None:
            if length and not piece:
                raise WebApiError(400, "0x80048d19", "The body ended before its announced length.")
            self._left -= len(piece)
        view[: len(piece)] = piece
        return len(piece)


def body_of(environ: dict[str, Any]) -> BinaryIO:
    """Return the body of a WSGI request as a stream that can be read piece by piece."""
    return io.BufferedReader(Body(environ), PIECE)


def parse(raw: bytes) -> Any:
    """Parse JSON, with fractions as Decimal. Raises WebApiError if it is not JSON."""
    try:
        return exact_json.parse(raw)
    except ValueError as error:
        raise bad_payload(f"The body is not JSON: {error}") from None


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises WebApiError for anything else."""
    value = parse(raw)
    if not isinstance(value, dict):
        raise bad_payload("The body must be a JSON object.")
    return value
