"""The platform's metadata as a page asks for it: once for each thing, whichever of its parts asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from designer.platform import get_platform
from designer.readiness import Metadata

_of_page: ContextVar[Metadata | None] = ContextVar("metadata_of_page", default=None)


def known_metadata() -> Metadata:
    """Return the metadata that the parts of a page share, inside of `sharing_metadata`; else new metadata,
    which has asked for nothing yet.
    """
    return _of_page.get() or Metadata(get_platform())


@contextmanager
def sharing_metadata() -> Iterator[None]:
    """Remember the answers about metadata until the block ends."""
    token = _of_page.set(Metadata(get_platform()))
    try:
        yield
    finally:
        _of_page.reset(token)
