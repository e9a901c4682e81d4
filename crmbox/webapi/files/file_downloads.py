"""GET of a file column: its bytes (`$value`), or its bytes as base64 in JSON; whole, or a range of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from django.utils.http import content_disposition_header

from crmbox.webapi.base64_bodies import encoded
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.files.names import HEADER
from crmbox.webapi.files.sessions import CHUNK
from crmbox.webapi.keys import locate
from crmbox.webapi.rendering import record_url
from crmbox.webapi.request import JSON_TYPE, Request, Response, no_content
from crmbox.webapi.routing import Target
from crmclient import exact_json
from crmclient.metadata import Attribute
from crmclient.values import Download, FileInfo

_RANGE = re.compile(r"bytes\s*=\s*(\d{0,15})-(\d{0,15})")


@dataclass(frozen=True, slots=True)
class Range:
    """`length` bytes from `start` on; `partial` when a range was asked for."""

    start: int
    length: int
    partial: bool


def download(request: Request, target: Target, attribute: Attribute) -> Response:
    """Answer with the bytes of a file, or with a range of them if one is requested.

    Raises WebApiError: 404 without a file, 416 for a range after its end.
    """
    info = _info(request, target, attribute)
    byte_range = _requested_range(request, info.size)
    if byte_range.partial and not byte_range.length:
        raise WebApiError(
            416,
            "0x80040203",
            f"The file has {info.size} bytes.",
            headers={"Content-Range": f"bytes */{info.size}"},
        )
    file = _open(request, target, attribute, byte_range)
    headers = {
        **_file_headers(file.info, byte_range),
        "Content-Type": "application/octet-stream",
        "Content-Length": str(byte_range.length),
    }
    return Response(206 if byte_range.partial else 200, headers, file.chunks)


def download_thumbnail(request: Request, target: Target, attribute: Attribute) -> Response:
    """Answer with the thumbnail of an image, or with a range of it if one is requested.

    204 for an image that cannot be made smaller. Raises WebApiError 404 for an empty column.
    """
    id = locate(request, target.type, target.key)
    thumbnail = request.platform.thumbnail(target.type.name, id, attribute.logical_name, call=request.call)
    if thumbnail is None:
        _info(request, target, attribute)
        return no_content()
    byte_range = _requested_range(request, thumbnail.info.size)
    content = b"".join(thumbnail.chunks)[byte_range.start : byte_range.start + byte_range.length]
    headers = {
        **_file_headers(thumbnail.info, byte_range),
        "Content-Type": "application/octet-stream",
        "Content-Length": str(len(content)),
    }
    return Response(206 if byte_range.partial else 200, headers, content)


def download_json(request: Request, target: Target, attribute: Attribute) -> Response:
    """Answer with the file, or with a range of it if one is requested.

    A range after the end is empty, as clients that download in chunks may ask once too often.
    """
    info = _info(request, target, attribute)
    byte_range = _requested_range(request, info.size)
    file = _open(request, target, attribute, byte_range)
    url = record_url(request.base, target.type, locate(request, target.type, target.key))
    context = f"{request.base}$metadata#{url.removeprefix(request.base)}/{target.name}"
    headers = {**_file_headers(file.info, byte_range), "Content-Type": JSON_TYPE}
    return Response(206 if byte_range.partial else 200, headers, _as_json(context, file.chunks))


def download_base64(request: Request, target: Target, attribute: Attribute) -> Response:
    """Answer with the whole file as base64 in plain text."""
    info = _info(request, target, attribute)
    file = _open(request, target, attribute, Range(0, info.size, partial=False))
    return Response(200, {"Content-Type": "text/plain"}, encoded(file.chunks))


def _info(request: Request, target: Target, attribute: Attribute) -> FileInfo:
    """Return the description of the file in a column. Raises WebApiError 404 for an empty column."""
    id = locate(request, target.type, target.key)
    name = attribute.logical_name
    info = request.platform.retrieve(target.type.name, id, [name], call=request.call).values[name]
    if not isinstance(info, FileInfo):
        raise _no_file(name, id)
    return info


def _open(request: Request, target: Target, attribute: Attribute, byte_range: Range) -> Download:
    """Return a range of the file in a column, to be read. Raises WebApiError 404 for an empty column."""
    id = locate(request, target.type, target.key)
    name = attribute.logical_name
    file = request.platform.download(
        target.type.name, id, name, start=byte_range.start, length=byte_range.length, call=request.call
    )
    if file is None:
        raise _no_file(name, id)
    return file


def _no_file(attribute: str, id: str) -> WebApiError:
    """Return the error for an empty column of the record `id`, in Dataverse's words."""
    return WebApiError(
        404, "0x80060888", f"No file attachment found for attribute: {attribute} EntityId: {id}."
    )


def _requested_range(request: Request, size: int) -> Range:
    """Return the range that is asked for: `bytes=a-b`, `bytes=a-` or `bytes=-n`. Anything else means the
    whole file.
    """
    match = _RANGE.fullmatch(request.headers.get("Range", "").strip())
    if match is None or not (match[1] or match[2]):
        return Range(0, size, partial=False)
    if not match[1]:
        start, end = max(0, size - int(match[2])), size
    else:
        start = min(int(match[1]), size)
        end = min(int(match[2]) + 1, size) if match[2] else size
    return Range(start, max(0, end - start), partial=True)


def _file_headers(info: FileInfo, byte_range: Range) -> dict[str, str]:
    """Return the headers that describe a file, and the range of it that is answered."""
    facts = {
        "x-ms-file-name": quote(info.file_name, safe=" !#$&'()+,;=@[]{}~"),
        "x-ms-file-size": str(info.size),
        "x-ms-chunk-size": str(CHUNK),
        "mimetype": info.content_type,
        "Content-Disposition": content_disposition_header(True, info.file_name) or "attachment",
        "Accept-Ranges": "bytes",
        "Access-Control-Expose-Headers": f"{HEADER}, x-ms-file-size, x-ms-chunk-size, mimetype",
    }
    if byte_range.partial and byte_range.length:
        last = byte_range.start + byte_range.length - 1
        facts["Content-Range"] = f"bytes {byte_range.start}-{last}/{info.size}"
    return facts


def _as_json(context: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the JSON of a file: an object with the context and, as `value`, the bytes in base64."""
    # The object without its closing bracket: `value` is written piece by piece.
    yield exact_json.render({"@odata.context": context})[:-1] + b',"value":"'
    yield from encoded(chunks)
    yield b'"}'
