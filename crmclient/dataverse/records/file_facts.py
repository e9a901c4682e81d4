"""What is known of a file without reading it.

A record holds a file column's id only. Name, size and type stand in the headers of a download, asked for one
byte, or for many files in one answer in the table `fileattachment`. Since a new content has a new id,
what was learnt of an id stays true, unless the platform loses the bytes: a download that fails forgets it. A
note says it all in its own columns, but its attachment has no id: one is made of the note's id and version.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from mimetypes import guess_extension
from typing import Final
from urllib.parse import unquote

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import error_of
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.metadata.metadata_json import DOCUMENT, NOTE
from crmclient.dataverse.records.decoding import Reader, Row, decode, property_name
from crmclient.errors import MissingPrivilege, PlatformError, PlatformFailure, UnexpectedAnswer
from crmclient.metadata import Attribute, AttributeType, Entity
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import FileInfo, Guid

REMEMBERED: Final = 10_000
UNKNOWN_TYPE: Final = "application/octet-stream"

_ATTACHMENTS: Final = "fileattachments"
_ATTACHMENT_COLUMNS: Final = "fileattachmentid,filename,filesizeinbytes,mimetype"
_AT_ONCE: Final = 400
"""Ids in one request: as many as a URL holds."""
_REFUSED_SECONDS: Final = 600.0
"""For so long the table is not asked again after a refusal."""

_NOTE_COLUMNS: Final = ("filename", "mimetype", "filesize", "isdocument")
_NOTES: Final = uuid.UUID("6f0c5bb7-8a0c-4a3f-9d0e-0d6a2f7a51c4")
"""The namespace of the ids that are made for attachments: any constant would do."""
# Statuses of HTTP.
_NOTHING, _PARTIAL, _UNSATISFIABLE = 204, 206, 416


@dataclass(frozen=True, slots=True)
class _Described:
    """A file, and the path that its bytes are at."""

    info: FileInfo
    path: str


class FileFacts:
    """Reads descriptions of files, and remembers them. Safe to share between threads."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lock = threading.Lock()
        self._remembered: OrderedDict[Guid, _Described] = OrderedDict()
        self._refused_until = 0.0

    def properties(self, entity: str, attribute: Attribute) -> tuple[str, ...]:
        """Return the properties of a record that describe its file."""
        return _NOTE_COLUMNS if is_attachment(entity, attribute) else (property_name(attribute),)

    def reader(self, entity: Entity, record: Guid, attribute: Attribute, version: str, call: Call) -> Reader:
        """Return a function that describes the file of a row. The row needs the columns that `properties`
        names.

        The function returns None for a row without a file. `version` is the record's, for attachments of
        notes, whose files have no ids.
        """
        if is_attachment(entity.logical_name, attribute):
            return lambda row: attachment(record, version, row)

        def read(row: Row) -> FileInfo | None:
            """Describe the file in the column of `row`. May ask the platform for its name and size."""
            id = row.get(property_name(attribute))
            return (
                None if id is None else self.of(entity, record, attribute, str(decode(attribute, id)), call)
            )

        return read

    def of(
        self, entity: Entity, record: Guid, attribute: Attribute, file: Guid, call: Call
    ) -> FileInfo | None:
        """Return the description of the file `file` in a column; None when the platform has no bytes
        of it.
        """
        described = self._cached_description(file)
        if described is None:
            described = self._ask(entity, record, attribute, file, call)
        return None if described is None else described.info

    def learn(self, entity: Entity, attribute: Attribute, files: Mapping[Guid, Guid], call: Call) -> None:
        """Read the descriptions of a column's files (each file's id, by record) in few requests.

        `of` asks for each file that this leaves out.
        """
        records_of_unknown = {
            file: record for record, file in files.items() if self._cached_description(file) is None
        }
        # For one file `of` needs no more requests; images have no row in the table `fileattachment`.
        if len(records_of_unknown) < 2 or attribute.type is not AttributeType.FILE:
            return
        ids = list(records_of_unknown)
        for start in range(0, len(ids), _AT_ONCE):
            if time.monotonic() < self._refused_until:
                return
            for row in self._attachment_rows(ids[start : start + _AT_ONCE], call):
                id, size = str(row.get("fileattachmentid", "")).lower(), row.get("filesizeinbytes")
                # A file without bytes may be one that the platform has lost: only a download tells.
                if id in records_of_unknown and isinstance(size, int) and size > 0:
                    name, content_type = row.get("filename"), row.get("mimetype")
                    info = FileInfo(
                        id, str(name or attribute.logical_name), size, str(content_type or UNKNOWN_TYPE)
                    )
                    # Only images have a second path.
                    self._remember(
                        _Described(info, _value_paths(entity, records_of_unknown[id], attribute)[0])
                    )

    def _attachment_rows(self, files: Iterable[Guid], call: Call) -> list[Row]:
        """Return the attachment rows of `files`.

        Empty when the platform lacks that table, or the account may not read it. It is not asked again for
        some minutes then.
        """
        values = json.dumps(list(files), separators=(",", ":"))
        condition = f"Microsoft.Dynamics.CRM.In(PropertyName='fileattachmentid',PropertyValues={values})"
        path = paths.with_query(_ATTACHMENTS, {"$select": _ATTACHMENT_COLUMNS, "$filter": condition})
        try:
            rows = self._api.get(path, Subject(Kind.QUERY, "fileattachment"), call).get("value")
        except PlatformError as error:
            # Any other failure may pass by itself; a privilege that is missing stays missing.
            if isinstance(error, PlatformFailure) and not isinstance(error, MissingPrivilege):
                raise
            self._refused_until = time.monotonic() + _REFUSED_SECONDS
            return []
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def path(self, entity: Entity, record: Guid, attribute: Attribute, file: Guid) -> str:
        """Return the path of the bytes of the file that `of` has described."""
        described = self._cached_description(file)
        return _value_paths(entity, record, attribute)[0] if described is None else described.path

    def forget(self, file: Guid) -> None:
        """Forget the description of a file. It holds only as long as the platform has the file's bytes."""
        with self._lock:
            self._remembered.pop(file, None)

    def _cached_description(self, file: Guid) -> _Described | None:
        """Return the description of a file that is remembered; None if it is not."""
        with self._lock:
            described = self._remembered.get(file)
            if described is not None:
                # Those used longest ago are forgotten first.
                self._remembered.move_to_end(file)
            return described

    def _ask(
        self, entity: Entity, record: Guid, attribute: Attribute, file: Guid, call: Call
    ) -> _Described | None:
        """Ask the platform for name, size and type of a file by reading its first byte; None where it has no
        file.
        """
        subject = Subject(Kind.FILE, entity.logical_name, record, attribute.logical_name)
        for path in _value_paths(entity, record, attribute):
            headers = {"Range": "bytes=0-0", "Accept": "*/*"}
            request = Request("GET", self._api.base + path, headers, repeatable=True)
            answer = self._api.client.send(request, call)
            if answer.status == _NOTHING:
                continue
            # An empty file has no first byte: the platform cannot satisfy the range, but tells the size.
            if not answer.ok and answer.status != _UNSATISFIABLE:
                raise error_of(answer, subject, acting=call.caller is not None)
            size = size_in(answer.headers, len(answer.body) if answer.status != _PARTIAL else None)
            content_type = type_in(answer.headers)
            name = name_in(answer.headers) or attribute.logical_name + (guess_extension(content_type) or "")
            return self._remember(_Described(FileInfo(file, name, size, content_type), path))
        return None

    def _remember(self, described: _Described) -> _Described:
        """Remember the description of a file, up to REMEMBERED of them, and return it."""
        with self._lock:
            self._remembered[described.info.id] = described
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return described


def is_attachment(entity: str, attribute: Attribute) -> bool:
    """Whether the attribute holds the file of a note, which is not a file column in Dataverse."""
    return (entity, attribute.logical_name) == (NOTE, DOCUMENT)


def attachment(note: Guid, version: str, row: Row) -> FileInfo | None:
    """Return the description of a note's attachment from the note's own columns in `row`; None without an
    attachment. `version` is the note's. Raises UnexpectedAnswer without a size.
    """
    if not row.get("isdocument"):
        return None
    name, content_type, size = row.get("filename"), row.get("mimetype"), row.get("filesize")
    if not isinstance(size, int):
        raise UnexpectedAnswer(Sentence("The platform does not say how large a note's file is."))
    # Another file is another version of the note, and must have another id. The note has none for its file.
    id = str(uuid.uuid5(_NOTES, f"{note} {version}"))
    return FileInfo(id, str(name or ""), size, str(content_type or UNKNOWN_TYPE))


def _value_paths(entity: Entity, record: Guid, attribute: Attribute) -> tuple[str, ...]:
    """Return the paths where a file's bytes may be, the best one first.

    An image may have a full-size copy, and always has a thumbnail.
    """
    path = f"{paths.record(entity, record)}/{attribute.logical_name}/$value"
    return (f"{path}?size=full", path) if attribute.type is AttributeType.IMAGE else (path,)


def size_in(headers: Mapping[str, str], otherwise: int | None) -> int:
    """Return the size of the whole file in bytes: that in the headers, else `otherwise`.

    Raises UnexpectedAnswer when both are missing.
    """
    size = headers.get("x-ms-file-size") or headers.get("content-range", "").rpartition("/")[2]
    if size and size.isascii() and size.isdigit():
        return int(size)
    if otherwise is None:
        raise UnexpectedAnswer(Sentence("The platform does not say how large a file is."))
    return otherwise


def name_in(headers: Mapping[str, str]) -> str:
    """Return the file's name in the headers of a download; empty without one."""
    return unquote(headers.get("x-ms-file-name", ""))


def type_in(headers: Mapping[str, str]) -> str:
    return headers.get("mimetype") or UNKNOWN_TYPE
