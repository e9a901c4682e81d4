"""A file as an answer: an attachment, whole or one range of it, read from the platform as it is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from crmclient import FileInfo, Guid, Platform
from crmclient.errors import FileLost
from runtime.files.allowed_files import media_type
from runtime.files.names import attachment
from runtime.files.ranges import Span, Unsatisfiable, requested_span
from runtime.http.conditions import is_not_modified
from runtime.http.problems import Problem, unknown_route
from runtime.http.rendering import refuse_unacceptable
from runtime.request_context import Exchange

# A file that is replaced while it is being found is looked up again.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The place of a file: the record's file column, and what the column says of the file."""

    entity: str
    id: Guid
    attribute: str
    info: FileInfo

    @property
    def tag(self) -> str:
        """The entity tag of the file: its id in quotes. Every upload makes a new id."""
        return f'"{self.info.id}"'


class _Replaced(Exception):
    """The column holds another file by now."""


def send_current(
    exchange: Exchange, platform: Platform, find: Callable[[Exchange], FilePlace]
) -> HttpResponseBase:
    """Answer with the file that `find` finds: 200, 206 or 304. It is looked for again if it is replaced
    meanwhile.

    Raises Problem 406, 416, 503, FileLost, and what `find` raises.
    """
    lost: FileLost | None = None
    for _ in range(_TRIES):
        try:
            return _send_file(exchange, platform, find(exchange))
        except _Replaced:
            # There is another file by now, and nothing is known to be missing.
            lost = None
        except FileLost as error:
            # The content may be missing because another file has replaced this one since it was found.
            # Looking again tells.
            lost = error
    if lost is not None:
        raise lost
    raise Problem(503, "unavailable", "The file is being replaced.", headers={"Retry-After": "1"})


def send_thumbnail(exchange: Exchange, platform: Platform, place: FilePlace) -> HttpResponseBase:
    """Answer with the small copy of an image, as a whole: 200 or 304.

    Raises Problem 404 when there is no small copy, and 406.
    """
    tag = f'"{place.info.id}-thumbnail"'
    if is_not_modified(exchange.request, tag):
        return HttpResponse(status=304, headers={"ETag": tag})
    thumbnail = platform.thumbnail(place.entity, place.id, place.attribute, call=exchange.call)
    if thumbnail is None:
        raise unknown_route()
    content_type = media_type(thumbnail.info.content_type)
    refuse_unacceptable(exchange.request.META.get("HTTP_ACCEPT"), content_type)
    headers = {
        "ETag": tag,
        "Content-Disposition": attachment(thumbnail.info.file_name),
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(b"".join(thumbnail.chunks), content_type=content_type, headers=headers)


def _send_file(exchange: Exchange, platform: Platform, place: FilePlace) -> HttpResponseBase:
    """Answer with the file or a range of it. Raises _Replaced if the platform has another file than `place`
    says.
    """
    request, info = exchange.request, place.info
    content_type = media_type(info.content_type)
    refuse_unacceptable(request.META.get("HTTP_ACCEPT"), content_type)
    if is_not_modified(request, place.tag):
        return HttpResponse(status=304, headers={"ETag": place.tag})
    headers = {
        "ETag": place.tag,
        "Accept-Ranges": "bytes",
        "Content-Disposition": attachment(info.file_name),
        "X-Content-Type-Options": "nosniff",
    }
    if request.method == "HEAD":
        headers["Content-Length"] = str(info.size)
        return HttpResponse(content_type=content_type, headers=headers)
    span = _requested_span(request, place)
    start, length = span or Span(0, info.size)
    download = platform.download(
        place.entity, place.id, place.attribute, start=start, length=length, known=info, call=exchange.call
    )
    if download is None or (download.info.id, download.info.size) != (info.id, info.size):
        raise _Replaced
    headers["Content-Length"] = str(download.length)
    if span:
        headers["Content-Range"] = f"bytes {start}-{start + download.length - 1}/{info.size}"
    return StreamingHttpResponse(
        download.chunks, status=206 if span else 200, content_type=content_type, headers=headers
    )


def _requested_span(request: HttpRequest, place: FilePlace) -> Span | None:
    """Return the range that is asked for; None for the whole file. Raises Problem 416."""
    condition = request.META.get("HTTP_IF_RANGE")
    # The caller has a part of another file, which no range of this one would complete.
    if condition is not None and condition.strip() != place.tag:
        return None
    try:
        return requested_span(request.META.get("HTTP_RANGE"), place.info.size)
    except Unsatisfiable:
        raise Problem(
            416,
            "range_not_satisfiable",
            f"The file has {place.info.size} bytes.",
            headers={"Content-Range": f"bytes */{place.info.size}"},
        ) from None
