"""What an image column takes, refused as Dataverse does."""

from __future__ import annotations

from typing import BinaryIO

from crmbox.files import images
from crmbox.webapi.errors import WebApiError


def checked_image(content: BinaryIO) -> tuple[str, BinaryIO]:
    """Return the content type of an image and a stream of all its bytes.

    Raises WebApiError for content that is no image.
    """
    content_type, stream = images.with_image_type(content)
    return _type_or_refusal(content_type), stream


def required_image_type(start: bytes) -> str:
    """Return the content type that the first bytes of an image show.

    Raises WebApiError for content that is no image.
    """
    return _type_or_refusal(images.image_type(start))


def _type_or_refusal(content_type: str | None) -> str:
    """Return the content type. Raises WebApiError for None, which stands for content that is no image."""
    if content_type is None:
        raise WebApiError(400, "0x80072553", images.NO_IMAGE)
    return content_type
