"""PATCH or PUT of a file column: all bytes at once, or a session of chunks.

Clients may repeat `x-ms-transfer-mode: chunked` with every chunk, so the session's token decides. They may
also send an empty last chunk behind the end.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from crmbox.webapi.errors import WebApiError, bad_payload
from crmbox.webapi.files.names import HEADER, content_type, file_name
from crmbox.webapi.files.sessions import CHUNK, Session, begin, resume
from crmbox.webapi.images import checked_image
from crmbox.webapi.keys import locate
from crmbox.webapi.request import Request, Response, no_content
from crmbox.webapi.routing import Target
from crmclient.errors import InvalidRecord, TooLong
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import FileInfo

TOO_LARGE = "0x80044a02"
# The last byte of an empty file is -1: `bytes 0--1/0`.
_RANGE = re.compile(r"bytes\s+(\d{1,15})-(-?\d{1,15})/(\d{1,15})")


def upload(request: Request, target: Target, attribute: Attribute) -> Response:
    """Store the body as the file of a column; or begin a session of chunks, or take one of its chunks."""
    if "sessiontoken" in request.query:
        return _chunk(request, target, attribute)
    if request.headers.get("x-ms-transfer-mode", "").lower() == "chunked":
        return _begin(request, target, attribute)
    name = file_name(request, attribute)
    # A body that comes at once is stored as a session with one chunk would be, which nothing keeps.
    session = Session(
        entity=target.type.name,
        record=locate(request, target.type, target.key),
        attribute=attribute.logical_name,
        user=request.user,
        file_name=name,
        content_type=content_type(request, name),
    )
    # Refused before the body is read. `put` counts the bytes, for a length that is missing or wrong.
    _check_size(attribute, request.headers.get("Content-Length"))
    # `If-Match: *` asks for any version.
    version = request.if_match
    put(request, attribute, session, request.stream, if_version=None if version == "*" else version)
    return no_content()


def put(
    request: Request,
    attribute: Attribute,
    session: Session,
    content: BinaryIO,
    *,
    if_version: str | None = None,
) -> FileInfo:
    """Store the bytes of a session. Raises as `Platform.upload`, and WebApiError for too many bytes."""
    type_ = session.content_type
    if attribute.type is AttributeType.IMAGE:
        type_, content = checked_image(content)
    try:
        return request.platform.upload(
            session.entity,
            session.record,
            session.attribute,
            content,
            file_name=session.file_name,
            content_type=type_,
            if_version=if_version,
            call=request.call,
        )
    except InvalidRecord as error:
        if isinstance(error.problems[0], TooLong) and attribute.max_size is not None:
            raise too_large(attribute) from None
        raise


def too_large(attribute: Attribute) -> WebApiError:
    """Return the error for a file of more bytes than the column takes."""
    return WebApiError(
        400,
        TOO_LARGE,
        f"The file is larger than the {attribute.max_size} bytes that '{attribute.logical_name}' takes.",
        details=[{"code": "too_long", "target": attribute.logical_name, "message": "The file is too large."}],
    )


def _begin(request: Request, target: Target, attribute: Attribute) -> Response:
    """Begin an upload in blocks, and answer with the address to send them to."""
    id = locate(request, target.type, target.key)
    # The result is not used: this raises RecordNotFound.
    request.platform.retrieve(target.type.name, id, (), call=request.call)
    name = file_name(request, attribute)
    type_ = content_type(request, name)
    session = begin(
        Session(
            entity=target.type.name,
            record=id,
            attribute=attribute.logical_name,
            user=request.user,
            file_name=name,
            content_type=type_,
        )
    )
    headers = {
        "Location": f"{request.base}{request.raw_path}?sessiontoken={session.token}",
        "Accept-Ranges": "bytes",
        "x-ms-chunk-size": str(CHUNK),
        "Access-Control-Expose-Headers": f"Location, x-ms-chunk-size, {HEADER}",
    }
    return Response(200, headers)


def _chunk(request: Request, target: Target, attribute: Attribute) -> Response:
    """Take a chunk of an upload session, and store the file after the last one.

    Answers 206 while more is to come. Raises WebApiError for a session that has ended or is for another
    column, and for a chunk that does not fit its `Content-Range`.
    """
    session = resume(request.query["sessiontoken"], request.user)
    if (session.entity, session.attribute) != (target.type.name, attribute.logical_name):
        raise bad_payload("The upload session is for another column.")
    match = _RANGE.fullmatch(request.headers.get("Content-Range", "").strip())
    if match is None:
        raise bad_payload("A chunk needs its place: Content-Range: bytes 0-4194303/10485760.")
    first, last, total = (int(number) for number in match.groups())
    _check_size(attribute, str(total))
    # An empty chunk behind the end, after the file has been stored: see the module's docstring.
    if first == total and last == total - 1 and total and not session.is_open:
        return no_content()
    if not session.is_open:
        raise bad_payload("The upload session has ended.")
    size = session.write(first, request.stream)
    if size != last + 1 or size > total:
        raise bad_payload(f"Content-Range says {last + 1 - first} bytes, and {size - first} have come.")
    if size < total:
        return Response(206)
    with session.content.open("rb") as content:
        put(request, attribute, session, content)
    session.end()
    return no_content()


def _check_size(attribute: Attribute, size: str | None) -> None:
    """Raise WebApiError if the size that a request announces, in bytes, is more than the column takes."""
    limit = attribute.max_size
    if limit is None or size is None or not (size.isascii() and size.isdigit()):
        return
    # So many digits are beyond every limit, and `int` refuses thousands of them.
    if int(size[:18]) > limit:
        raise too_large(attribute)
