"""Recognising images by their first bytes."""

from __future__ import annotations

import io
from typing import BinaryIO, Final

import puremagic

IMAGE_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/bmp", "image/tiff"})
NO_IMAGE: Final = "The file is not an image. Use gif, jpeg, tiff, bmp or png."
_START: Final = 4096


def with_image_type(content: BinaryIO) -> tuple[str | None, BinaryIO]:
    """Return the `image_type` of a stream, and a stream of all its bytes."""
    start = content.read(_START)
    return image_type(start), io.BufferedReader(_RewoundStream(start, content))


def image_type(start: bytes) -> str | None:
    """Return the content type of an image with these first bytes; None for anything else."""
    try:
        content_type = puremagic.from_string(start[:_START], mime=True)
    except (puremagic.PureError, ValueError):
        return None
    # The library gives BMP its old name.
    content_type = "image/bmp" if content_type == "image/x-ms-bmp" else content_type
    return content_type if content_type in IMAGE_TYPES else None


class _RewoundStream(io.RawIOBase):
    """A stream whose beginning has already been read."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._start = io.BytesIO(start)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the beginning that was read before, and then the rest."""
        piece = self._start.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)
