"""A file in a request's body: a multipart form with one part `file`, or the bytes alone.

It is read in pieces into a temporary file, which the operating system removes with the process: whatever
breaks off leaves nothing behind, and a slow sender keeps neither the platform nor the database waiting.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, NoReturn, cast

from django.conf import settings
from django.http import HttpRequest
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from runtime.files import names
from runtime.files.allowed_files import HEAD, Allowed, type_of
from runtime.http.bodies import announced_length, malformed
from runtime.http.failures import is_no_room
from runtime.http.problems import Problem
from runtime.request_context import ReceivedFile

logger = logging.getLogger("portico.files")

PART = "file"
# Bytes that are read at once.
PIECE = 64 * 1024
# Bytes. Smaller files stay in memory.
IN_MEMORY = 512 * 1024
# Bytes of the boundaries and of the part's headers, at most.
_ENVELOPE = 16 * 1024


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A file on its way in: its name, its type, and its bytes as they come."""

    name: str
    content_type: str
    pieces: Iterator[bytes]


def receive(request: HttpRequest, allowed: Allowed) -> ReceivedFile:
    """Return the file that `request` sends. Its length, name and first bytes are checked before the rest is
    read.

    Raises Problem 400 `malformed_body`, `invalid_file_name`; 411; 413 `too_large`; 415.
    """
    length = _announced_length(request)
    media, options = parse_options_header(request.META.get("CONTENT_TYPE", ""))
    if media == "multipart/form-data":
        if length > allowed.max_size + _ENVELOPE:
            _raise_too_large(allowed)
        incoming = _file_of_form(_form_events(options.get("boundary", ""), _pieces(request, length)))
    else:
        if length > allowed.max_size:
            _raise_too_large(allowed)
        name = names.name_in(request.META.get("HTTP_CONTENT_DISPOSITION", ""))
        incoming = _Incoming(name, type_of(name, media), _pieces(request, length))
    return _store(incoming, allowed)


def _announced_length(request: HttpRequest) -> int:
    """Return the announced length of the body in bytes; 0 without a body. Raises Problem 411 for a body in
    chunks, and 415 for a compressed one.
    """
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise Problem(415, "unsupported_encoding", "Send the file without compression.")
    return announced_length(request)


def _pieces(request: HttpRequest, length: int) -> Iterator[bytes]:
    """Yield a body of `length` bytes piece by piece. Raises Problem 400 when the sender breaks off."""
    bytes_left = length
    while bytes_left:
        try:
            piece = request.read(min(PIECE, bytes_left))
        except OSError as error:
            raise malformed("The body broke off.") from error
        if not piece:
            raise malformed("The body broke off.")
        bytes_left -= len(piece)
        yield piece


def _form_events(boundary: str, pieces: Iterator[bytes]) -> Iterator[MultipartSegment | bytes | None]:
    """Yield what the multipart parser reads: the head of a part, pieces of its content, None at its end.
    Raises Problem 400.
    """
    try:
        with PushMultipartParser(boundary, max_segment_count=1) as parser:
            for piece in pieces:
                yield from parser.parse(piece)
    except (MultipartError, UnicodeError) as error:
        raise malformed(f"The multipart body must hold one part, “{PART}”, with headers in UTF-8.") from error


def _file_of_form(events: Iterator[MultipartSegment | bytes | None]) -> _Incoming:
    """Return the file in the only part of a form. Raises Problem 400 for any other form."""
    part = next(events, None)
    if not isinstance(part, MultipartSegment) or part.name != PART:
        raise malformed(f"The multipart body must hold one part, “{PART}”.")
    name = names.name_in_part(part.header("Content-Disposition", ""), part.filename)
    content = (event for event in events if isinstance(event, bytes))
    return _Incoming(name, type_of(name, part.content_type or ""), content)


def _store(incoming: _Incoming, allowed: Allowed) -> ReceivedFile:
    """Write the file to a temporary file, at most `allowed.max_size` bytes, and hash it.

    The first `HEAD` bytes are checked before anything is written: they show the real type of the file.
    """
    head = bytearray()
    for piece in incoming.pieces:
        head += piece
        if len(head) >= HEAD:
            break
    allowed.check(incoming.name, incoming.content_type, bytes(head[:HEAD]))
    digest = hashlib.sha256(f"{incoming.name}\0{incoming.content_type}\0".encode())
    folder = settings.PORTICO["UPLOAD_FOLDER"] or None
    content = cast(BinaryIO, tempfile.SpooledTemporaryFile(IN_MEMORY, dir=folder))  # noqa: SIM115  kept open
    try:
        size = 0
        for piece in chain([bytes(head)], incoming.pieces):
            size += len(piece)
            if size > allowed.max_size:
                _raise_too_large(allowed)
            digest.update(piece)
            content.write(piece)
        content.seek(0)
    except OSError as error:
        # `close` writes the buffered rest, which fails again.
        with suppress(OSError):
            content.close()
        raise _cannot_store(error) from error
    except BaseException:
        content.close()
        raise
    return ReceivedFile(
        name=incoming.name,
        content_type=incoming.content_type,
        size=size,
        digest=digest.hexdigest(),
        content=content,
    )


def _cannot_store(error: OSError) -> Exception:
    """Return the exception for a failed write: Problem 503, or `error` itself when the disk is full.

    A full disk has an answer of its own for all requests.
    """
    if is_no_room(error):
        return error
    logger.error("UPLOAD_FOLDER cannot be written to: %s", error.strerror)
    return Problem(503, "unavailable", "Uploads cannot be received now.", headers={"Retry-After": "5"})


def _raise_too_large(allowed: Allowed) -> NoReturn:
    """Raise Problem 413 for a file that is larger than allowed."""
    raise Problem(413, "too_large", f"A file may hold at most {allowed.max_size} bytes here.")
