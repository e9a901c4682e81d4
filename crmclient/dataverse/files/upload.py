"""Uploads a file into a column: at once up to one block, else in a session, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, Final
from urllib.parse import quote, urljoin

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api, tag_of, version_in
from crmclient.dataverse.failures import check
from crmclient.dataverse.files.columns import Column, column
from crmclient.dataverse.files.content import Base64Object, Content, measured
from crmclient.dataverse.http.messages import JSON, Answer, Request
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.metadata_json import DOCUMENT
from crmclient.dataverse.records.decoding import decode
from crmclient.dataverse.records.file_facts import FileFacts, attachment, is_attachment
from crmclient.dataverse.records.record_answers import RecordAnswers
from crmclient.errors import (
    AccessDenied,
    InvalidRecord,
    MissingPrivilege,
    TooLong,
    UnexpectedAnswer,
    VersionMismatch,
)
from crmclient.limits import check_file
from crmclient.metadata import AttributeType
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import FileInfo, Guid, Record, new_guid

BLOCK: Final = 4 * 1024 * 1024
"""The most bytes of a file in one request. Dataverse may ask for smaller blocks in a session."""

_NOTE_FACTS: Final = "filename,mimetype,filesize,isdocument"

Retrieve = Callable[[str, Guid, tuple[str, ...], Call], Record]
"""Reads a record, by its entity and id, with the attributes that are named."""


class Uploads:
    """Uploads files. Raises what `Platform.upload` raises."""

    def __init__(
        self,
        api: Api,
        catalogue: Catalogue,
        files: FileFacts,
        answers: RecordAnswers,
        retrieve: Retrieve,
    ) -> None:
        self._api = api
        self._catalogue = catalogue
        self._files = files
        self._answers = answers
        self._retrieve = retrieve

    def upload(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        stream: BinaryIO,
        *,
        file_name: str,
        content_type: str,
        if_version: str | None,
        call: Call,
    ) -> FileInfo:
        """Write the rest of `stream` to a file or image column, or as the file of a note. Return what the
        platform has then.
        """
        place = column(self._catalogue, entity, id, attribute)
        check_file(place.entity.logical_name, place.attribute.logical_name, file_name, content_type)
        limit = place.attribute.max_size
        with measured(stream, limit) as content:
            if content is None:
                # The stream has more than `limit` bytes.
                raise InvalidRecord(entity, [TooLong(attribute, f"A file of at most {limit} bytes.")])
            if is_attachment(entity, place.attribute):
                return self._attach(place, content, file_name, content_type, if_version, call)
            self._check_version(place, if_version, call)
            if content.size <= BLOCK:
                self._send_whole(place, content, file_name, call)
            else:
                self._send_blocks(place, content, file_name, call)
            if not place.attribute.readable:
                # The file is stored, and the platform tells nobody of it.
                return FileInfo(new_guid(), file_name, content.size, content_type)
            try:
                if place.attribute.type is AttributeType.FILE:
                    return FileInfo(self._id_of(place, call), file_name, content.size, content_type)
                return self._image_in(place, call)
            except (AccessDenied, MissingPrivilege):
                # The user may write the record and not read it: the file is stored, under an id that is not
                # told. This one is that of no file.
                return FileInfo(new_guid(), file_name, content.size, content_type)

    def _id_of(self, place: Column, call: Call) -> Guid:
        """Return the id of the file that the column holds now. The answer to an upload does not have it."""
        name = place.attribute.logical_name
        path = paths.with_query(paths.record(place.entity, place.record), {"$select": name})
        id = self._api.get(path, place.subject, call).get(name)
        if id is None:
            raise UnexpectedAnswer(Sentence("The platform took a file, and does not have it."))
        return str(decode(place.attribute, id))

    def _image_in(self, place: Column, call: Call) -> FileInfo:
        """Return what the platform has: it may have made another image of the one that was sent."""
        name = place.attribute.logical_name
        info = self._retrieve(place.entity.logical_name, place.record, (name,), call).values[name]
        if not isinstance(info, FileInfo):
            raise UnexpectedAnswer(Sentence("The platform took a file, and does not have it."))
        return info

    def _check_version(self, place: Column, if_version: str | None, call: Call) -> None:
        """Raise VersionMismatch unless the record has this version.

        Uploads have no `If-Match`, so that the record may still change between this check and the upload.
        """
        entity = place.entity.logical_name
        if if_version is not None and self._retrieve(entity, place.record, (), call).version != if_version:
            raise VersionMismatch(entity, place.record)

    def _send_whole(self, place: Column, content: Content, file_name: str, call: Call) -> None:
        """Send a file that fits in one request."""
        url, headers = self._url_and_name_header(place, file_name)
        headers["Content-Type"] = "application/octet-stream"
        body = content.read(0, content.size)
        self._api.send(Request("PATCH", url, headers, body, repeatable=True), place.subject, call)

    def _send_blocks(self, place: Column, content: Content, file_name: str, call: Call) -> None:
        """Send a file that is larger than one request, in an upload session."""
        url, headers = self._url_and_name_header(place, file_name)
        headers["x-ms-transfer-mode"] = "chunked"
        opened = self._api.send(Request("PATCH", url, headers), place.subject, call)
        session, size = self._session(url, opened)
        for start in range(0, content.size, size):
            block = content.read(start, min(size, content.size - start))
            end = start + len(block)
            # The name is left out where it is in the URL.
            block_headers = {
                "Content-Type": "application/octet-stream",
                "Content-Range": f"bytes {start}-{end - 1}/{content.size}",
                "x-ms-file-name": headers.get("x-ms-file-name", ""),
            }
            request = Request(
                "PATCH",
                session,
                {name: value for name, value in block_headers.items() if value},
                block,
                # The last block ends the session: it cannot be sent twice.
                repeatable=end < content.size,
                # Whoever has opened the session goes on with it.
                user=opened.user,
            )
            self._api.send(request, place.subject, call)

    def _session(self, url: str, opened: Answer) -> tuple[str, int]:
        """Return the URL for the blocks, which must be the platform's own, and the size of a block
        in bytes.
        """
        session = urljoin(url, opened.headers.get("location", ""))
        if "sessiontoken=" not in session or not session.startswith(self._api.base):
            raise UnexpectedAnswer(Sentence("The platform opened no upload session."))
        size = opened.headers.get("x-ms-chunk-size", "")
        # So many digits are more than a block, and `int` refuses thousands of them.
        announced = int(size[:18]) if size.isascii() and size.isdigit() else 0
        # 0: the platform has named no size.
        return session, min(BLOCK, announced) or BLOCK

    def _url_and_name_header(self, place: Column, file_name: str) -> tuple[str, dict[str, str]]:
        """Return the upload URL and headers with the file name: in a header if it is ASCII, else in a
        parameter.
        """
        url = f"{self._api.base}{paths.record(place.entity, place.record)}/{place.attribute.logical_name}"
        # In a header, a `%` would be read as the beginning of an encoded character.
        if file_name.isascii() and file_name.isprintable() and "%" not in file_name:
            return url, {"x-ms-file-name": file_name}
        return f"{url}?x-ms-file-name={quote(file_name, safe='')}", {}

    def _attach(
        self,
        place: Column,
        content: Content,
        file_name: str,
        content_type: str,
        if_version: str | None,
        call: Call,
    ) -> FileInfo:
        """Write the file of a note, as base64 in JSON."""
        body = Base64Object({"filename": file_name, "mimetype": content_type}, DOCUMENT, content)
        headers = {**JSON, "Content-Length": str(body.length), "If-Match": tag_of(if_version)}
        request = Request("PATCH", self._api.base + paths.record(place.entity, place.record), headers, body)
        request = self._answers.ask(request, place.entity.logical_name, _NOTE_FACTS, call)
        answer = self._answers.send(request, place.subject, call)
        if answer is not None:
            check(answer, place.subject, acting=call.caller is not None)
        if answer is None or not answer.body:
            # The user may write the note and not read it.
            return FileInfo(new_guid(), file_name, content.size, content_type)
        row = answer.json()
        info = attachment(place.record, version_in(row, place.entity.primary_id) or "", row)
        if info is None:
            raise UnexpectedAnswer(Sentence("The platform took a note's file, and does not have it."))
        return info
