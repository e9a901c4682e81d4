"""Reads a file block by block, so that no request takes long and each can be repeated."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final, cast

import requests
import urllib3
from urllib3.exceptions import HTTPError

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.failures import error_of
from crmclient.dataverse.files.columns import Column, column
from crmclient.dataverse.files.upload import BLOCK, Retrieve
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.http.transport import PIECE
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.file_facts import UNKNOWN_TYPE, FileFacts, is_attachment, size_in, type_in
from crmclient.errors import (
    InvalidQuery,
    InvalidRecord,
    OutOfRange,
    RecordNotFound,
    UnexpectedAnswer,
    WrongType,
)
from crmclient.metadata import AttributeType
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import Download, FileInfo, Guid

_PARTIAL: Final = 206


class Downloads:
    """Reads files and thumbnails.

    Raises as `Platform.download`, and InvalidRecord for a range that begins behind the file's end.
    """

    def __init__(self, api: Api, catalogue: Catalogue, files: FileFacts, retrieve: Retrieve) -> None:
        self._api = api
        self._catalogue = catalogue
        self._files = files
        self._retrieve = retrieve

    def download(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        start: int,
        length: int | None,
        known: FileInfo | None,
        call: Call,
    ) -> Download | None:
        """Return at most `length` bytes of a file from byte `start` on; None when the column is empty.

        `length` None means all. `known` is the file's description, if the caller has just read it.
        """
        place = column(self._catalogue, entity, id, attribute)
        info = known or self._file_info(place, call)
        if info is None:
            return None
        # A file that differs from its description has been replaced, or its content or its full-size copy is
        # lost. Then the description is read again.
        with suppress(UnexpectedAnswer, InvalidQuery, RecordNotFound):
            return self._open(place, info, start, length, call)
        self._files.forget(info.id)
        info = self._file_info(place, call)
        return None if info is None else self._open(place, info, start, length, call)

    def _file_info(self, place: Column, call: Call) -> FileInfo | None:
        """Return the description of the file in the column; None when the column is empty."""
        name = place.attribute.logical_name
        info = self._retrieve(place.entity.logical_name, place.record, (name,), call).values[name]
        return info if isinstance(info, FileInfo) else None

    def _open(self, place: Column, info: FileInfo, start: int, length: int | None, call: Call) -> Download:
        """Return the file in a column. Its first block is read at once, so that errors come now."""
        entity, attribute = place.entity.logical_name, place.attribute.logical_name
        # A range may begin at the file's end, and is empty then.
        if not 0 <= start <= info.size or (length is not None and length < 0):
            raise InvalidRecord(entity, [OutOfRange(attribute, f"The file has {info.size} bytes.")])
        wanted_length = min(info.size - start, info.size if length is None else length)
        if not wanted_length:
            return Download(info, start, 0, iter(()))
        # A slow reader must not run into the deadline of the call: each block has its own time limit.
        without_deadline = replace(call, deadline=None)
        if is_attachment(entity, place.attribute):
            # Its one answer has to begin before the deadline; each piece of it has a time limit then.
            chunks = _bytes_from(self._attachment(place, call), start, wanted_length)
        else:
            chunks = self._blocks(place, info, start, wanted_length, without_deadline)
        return Download(info, start, wanted_length, _with_first_piece_read(chunks))

    def thumbnail(self, entity: str, id: Guid, attribute: str, call: Call) -> Download | None:
        """Return the thumbnail of the image in a column, as a whole; None when there is none."""
        place = column(self._catalogue, entity, id, attribute)
        if place.attribute.type is not AttributeType.IMAGE:
            raise InvalidRecord(entity, [WrongType(attribute, "It is no image column.")])
        info = self._file_info(place, call)
        if info is None:
            return None
        # Without `?size=full`, the value of an image is its thumbnail.
        path = f"{paths.record(place.entity, place.record)}/{attribute}/$value"
        request = Request("GET", self._api.base + path, {"Accept": "*/*"}, repeatable=True)
        answer = self._api.send(request, place.subject, call)
        if not answer.body:
            return None
        sent_type = type_in(answer.headers)
        content_type = info.content_type if sent_type == UNKNOWN_TYPE else sent_type
        # The thumbnail has a size and perhaps a type of its own.
        thumbnail = FileInfo(info.id, info.file_name, len(answer.body), content_type)
        return Download(thumbnail, 0, thumbnail.size, iter((answer.body,)))

    def _blocks(self, place: Column, info: FileInfo, start: int, length: int, call: Call) -> Iterator[bytes]:
        """Yield a range of a file, each block by a request of its own."""
        end = start + length
        path = self._files.path(place.entity, place.record, place.attribute, info.id)
        while start < end:
            last = min(start + BLOCK, end) - 1
            request = Request(
                "GET",
                self._api.base + path,
                {"Range": f"bytes={start}-{last}", "Accept": "*/*"},
                repeatable=True,
            )
            answer = self._api.send(request, place.subject, call)
            block = _part(answer, info.size, start, last)
            yield block
            start += len(block)

    def _attachment(self, place: Column, call: Call) -> Iterator[bytes]:
        """Yield the file of a note. Dataverse sends it as base64, and only as a whole."""
        path = f"{paths.record(place.entity, place.record)}/{place.attribute.logical_name}/$value"
        request = Request("GET", self._api.base + path, {"Accept": "*/*"}, repeatable=True)
        response = self._api.client.open(request, call)
        if isinstance(response, Answer):
            raise error_of(response, place.subject, acting=call.caller is not None)
        return _decoded_base64(response, self._api.client.options.timeout)


def _part(answer: Answer, size: int, start: int, last: int) -> bytes:
    """Return the bytes from `start` to `last` (inclusive) from an answer with this part or the whole file."""
    if size_in(answer.headers, len(answer.body)) != size:
        raise UnexpectedAnswer(Sentence("The file was replaced while it was read."))
    body = answer.body if answer.status == _PARTIAL else answer.body[start : last + 1]
    if len(body) != last - start + 1:
        raise UnexpectedAnswer(Sentence("The platform sent another part of the file than was asked for."))
    return body


def _decoded_base64(response: requests.Response, patience: float) -> Iterator[bytes]:
    """Yield the decoded pieces of a base64 text.

    Each must come within `patience` seconds after the one before.
    """
    raw = cast("urllib3.HTTPResponse", response.raw)
    undecoded = b""
    with response:
        try:
            asked_at = time.monotonic()
            while piece := raw.read1(PIECE, decode_content=True):
                if time.monotonic() - asked_at > patience:
                    raise UnexpectedAnswer(Sentence("A note's file did not come in time."))
                # Without line ends, and the quotation marks of a text in JSON.
                undecoded += piece.translate(None, b'\r\n"')
                # Four characters of base64 make three bytes: what is left waits for the next piece.
                decodable = len(undecoded) - len(undecoded) % 4
                if decodable:
                    yield base64.b64decode(undecoded[:decodable], validate=True)
                undecoded = undecoded[decodable:]
                asked_at = time.monotonic()
        except binascii.Error as error:
            raise UnexpectedAnswer(Sentence("A note's file is not base64.")) from error
        except (HTTPError, OSError) as error:
            raise UnexpectedAnswer(Sentence("A note's file broke off.")) from error
    if undecoded:
        raise UnexpectedAnswer(Sentence("A note's file is not whole."))


def _bytes_from(pieces: Iterator[bytes], start: int, length: int) -> Iterator[bytes]:
    """Yield `length` bytes of the pieces, from byte `start` on. Raises UnexpectedAnswer when the pieces end
    before.
    """
    for piece in pieces:
        wanted_bytes = piece[start : start + length]
        start = max(0, start - len(piece))
        length -= len(wanted_bytes)
        if wanted_bytes:
            yield wanted_bytes
        if not length:
            return
    raise UnexpectedAnswer(Sentence("A note's file ends before its size."))


def _with_first_piece_read(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Return the same pieces, with the first one read already. Errors then show before an answer has
    begun.
    """
    first_piece = next(pieces)

    def all_pieces() -> Iterator[bytes]:
        yield first_piece
        yield from pieces

    return all_pieces()
