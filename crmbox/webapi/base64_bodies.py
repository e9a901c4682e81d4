"""Bytes inside records: a note's document and an image, as base64."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from crmbox.webapi.model import EntityType
from crmbox.webapi.request import Request
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import FileInfo, Guid, Values

NOTE_BODY = ("annotation", "documentbody")


def has_body(type_: EntityType, attribute: Attribute) -> bool:
    """Return whether the value of the property is the bytes themselves and not their id."""
    return attribute.type is AttributeType.IMAGE or (type_.name, attribute.logical_name) == NOTE_BODY


def put_bodies(
    request: Request, type_: EntityType, shown: tuple[str, ...], values: Values, content: dict[str, Any]
) -> None:
    """Put the bytes of the columns `shown` into a record's JSON."""
    id: Guid = str(values[type_.entity.primary_id])
    for name in shown:
        if has_body(type_, type_.attributes[name]):
            content[name] = _body(request, type_, id, name) if isinstance(values[name], FileInfo) else None
            # Written for every file column (`rendering`), but no property of one that holds bytes.
            content.pop(f"{name}_name", None)


def leave_out_bodies(type_: EntityType, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return `shown` without the columns that have bytes: a list of records has them only on request."""
    return tuple(name for name in shown if not has_body(type_, type_.attributes[name]))


def _body(request: Request, type_: EntityType, id: Guid, name: str) -> str | None:
    """Return the bytes in a column of a record as base64; None when the column is empty."""
    file = request.platform.download(type_.name, id, name, call=request.call)
    return None if file is None else b"".join(encoded(file.chunks)).decode("ascii")


def encoded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the base64 of bytes that come in pieces of any size."""
    remainder = b""
    for chunk in chunks:
        piece = remainder + chunk
        # Three bytes make four characters of base64: what is left waits for the next piece.
        encodable = len(piece) - len(piece) % 3
        yield base64.b64encode(piece[:encodable])
        remainder = piece[encodable:]
    yield base64.b64encode(remainder)
