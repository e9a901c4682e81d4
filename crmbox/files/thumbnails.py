"""Thumbnails of images: at most 144 pixels wide and high, a square around the middle, as Dataverse does."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image, ImageOps

SIDE: Final = 144
# What an image may take in memory while it is made smaller: a few hundred megabytes.
_MOST_PIXELS: Final = 60_000_000


def thumbnail(content: bytes) -> bytes | None:
    """The image made small, in its own format; as it is where it is small already. None for what is no image,
    or too large to be opened.
    """
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "GIF", "BMP", "TIFF")) as image:
            width, height = image.size
            if max(width, height) <= SIDE:
                return content
            if width * height > _MOST_PIXELS:
                return None
            side = min(width, height, SIDE)
            # A JPEG is read at a fraction of its size at once.
            image.draft(None, (2 * SIDE, 2 * SIDE))
            made = io.BytesIO()
            ImageOps.fit(ImageOps.exif_transpose(image), (side, side)).save(made, image.format)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return made.getvalue()
