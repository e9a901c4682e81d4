"""Which bytes are an image, by the first of them."""

from __future__ import annotations

import io
from typing import BinaryIO, Final

import puremagic

from crmbox.webapi.errors import WebApiError

IMAGES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/bmp", "image/tiff"})
_START: Final = 4096


def checked_image(content: BinaryIO) -> tuple[str, BinaryIO]:
    """The content type, and all of the bytes. Raises WebApiError for what is no image."""
    start = content.read(_START)
    return image_type(start), io.BufferedReader(_Joined(start, content))


def image_type(start: bytes) -> str:
    """The content type that an image's first bytes show. Raises WebApiError for what is no image."""
    try:
        found = puremagic.from_string(start[:_START], mime=True)
    except (puremagic.PureError, ValueError):
        found = ""
    found = "image/bmp" if found == "image/x-ms-bmp" else found
    if found not in IMAGES:
        raise WebApiError(400, "0x80072553", "The file is no image: gif, jpeg, tiff, bmp and png are.")
    return found


class _Joined(io.RawIOBase):
    """A stream whose beginning has been read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._start = io.BytesIO(start)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self._start.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)
