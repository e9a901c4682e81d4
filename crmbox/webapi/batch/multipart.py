"""The body of a batch taken apart: parts, each one request, or a change set of several.

Clients write line ends as CRLF or LF, boundaries with or without quotes, and URLs with blanks in them; some
write text before the first boundary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.utils.http import parse_header_parameters

from crmbox.webapi.errors import WebApiError, bad_payload
from crmbox.webapi.request import Headers

MOST_REQUESTS: Final = 1000
_LONGEST_BOUNDARY: Final = 200
_REQUEST_LINE = re.compile(r"([A-Za-z]+)[ \t]+(.+?)[ \t]+HTTP/\d(?:\.\d)?[ \t]*")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class Part:
    """A request of a batch. `url` is as the client wrote it; `content_id` is empty if it has none."""

    method: str
    url: str
    headers: Headers
    body: bytes
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The parts of a change set, which are carried out together or not at all."""

    parts: tuple[Part, ...]


Item: TypeAlias = Part | ChangeSet


def read_batch(content_type: str, body: bytes) -> list[Item]:
    """Return the requests and change sets of a batch.

    Raises WebApiError for a body that is no batch, and for too many requests.
    """
    items = [_item(part) for part in _parts(_boundary(content_type), body)]
    count = sum(len(item.parts) if isinstance(item, ChangeSet) else 1 for item in items)
    if count > MOST_REQUESTS:
        raise WebApiError(400, "0x80048d19", f"A batch holds at most {MOST_REQUESTS} requests, not {count}.")
    return items


def _item(raw: bytes) -> Item:
    """Read a part of a batch: one request, or a change set if it is multipart itself. Raises WebApiError."""
    headers, content = _head(raw)
    content_type = headers.get("Content-Type", "")
    if content_type.lower().startswith("multipart/mixed"):
        parts = tuple(_request(part) for part in _parts(_boundary(content_type), content))
        return ChangeSet(parts)
    return _request(raw)


def _request(raw: bytes) -> Part:
    """Read one request of a batch. Raises WebApiError."""
    headers, content = _head(raw)
    if not headers.get("Content-Type", "").lower().startswith("application/http"):
        raise bad_payload("Each part of a batch must be of the type application/http.")
    line, _, rest = content.lstrip(b"\r\n").partition(b"\n")
    match = _REQUEST_LINE.fullmatch(_text(line).strip())
    if match is None:
        raise bad_payload(f"'{_text(line).strip()[:200]}' is no request line.")
    inner, body = _head(rest)
    # It may stand in the head of the part, or in that of the request.
    content_id = headers.get("Content-ID") or inner.get("Content-ID", "")
    return Part(
        method=match[1].upper(), url=match[2], headers=inner, body=body, content_id=content_id.strip()
    )


def _head(raw: bytes) -> tuple[Headers, bytes]:
    """Return the headers before the first blank line, and the rest after it."""
    # Without headers a part begins with the blank line.
    if raw.startswith((b"\n", b"\r\n")) or not raw.strip():
        return Headers(), raw.lstrip(b"\r\n")
    match = _BLANK_LINE.search(raw)
    head, rest = (raw[: match.start()], raw[match.end() :]) if match else (raw, b"")
    lines = [line.partition(":") for line in _text(head).splitlines() if line.strip()]
    return Headers((name.strip(), value.strip()) for name, _, value in lines), rest


def _parts(boundary: bytes, body: bytes) -> Iterator[bytes]:
    """Yield the content between the boundaries. Raises WebApiError if the last boundary is missing."""
    pattern = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    start: int | None = None
    for match in pattern.finditer(body):
        if start is not None:
            yield _after_line_end(body[start : match.start()])
        if match[1]:
            return
        start = match.end()
    raise bad_payload(f"The batch has no end: the boundary --{_text(boundary)}-- is missing.")


def _after_line_end(raw: bytes) -> bytes:
    """Return a part without the line end of the boundary before it."""
    return raw[2:] if raw.startswith(b"\r\n") else raw[1:]


def _boundary(content_type: str) -> bytes:
    """Return the boundary that a content type names. Raises WebApiError unless it is multipart with one."""
    media_type, parameters = parse_header_parameters(content_type)
    boundary = parameters.get("boundary", "")
    if media_type != "multipart/mixed" or not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        raise bad_payload("A batch must be of the type multipart/mixed; boundary=….")
    return boundary.encode()


def _text(raw: bytes) -> str:
    """Return bytes as UTF-8. Raises WebApiError."""
    try:
        return raw.decode("utf-8")
    except UnicodeError:
        raise bad_payload("The batch is not UTF-8.") from None
