"""Thumbnails of images: at most 144 pixels wide and high, a square around the middle, as Dataverse does."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image, ImageOps

SIDE: Final = 144
# What an image may take in memory while it is made smaller: a few hundred megabytes.
_MOST_PIXELS: Final = 60_000_000


def thumbnail(content: bytes) -> bytes | None:
    """Return an image cut to a square of at most SIDE pixels, in its own format. A small image is returned as
    it is.

    None for anything but an image, and for one that is too large to be opened.
    """
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "GIF", "BMP", "TIFF")) as image:
            width, height = image.size
            if max(width, height) <= SIDE:
                return content
            if width * height > _MOST_PIXELS:
                return None
            # A square, as on the platform: the longer sides are cut off, never stretched.
            side = min(width, height, SIDE)
            # A JPEG is decoded at a fraction of its size, which saves memory.
            image.draft(None, (2 * SIDE, 2 * SIDE))
            output = io.BytesIO()
            ImageOps.fit(ImageOps.exif_transpose(image), (side, side)).save(output, image.format)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return output.getvalue()
