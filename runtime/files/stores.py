"""The places of an endpoint's files on the platform: a column of the record, or its notes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crmclient import FileInfo, Guid, Platform, Reference, Value
from crmclient.conventions import Notes
from crmclient.errors import DuplicateKey, PlatformError
from crmclient.metadata import AttributeType
from crmclient.query.ast import Column as QueryColumn
from crmclient.query.ast import Condition, Filter, Operator, Order, Page, Query
from designer.configuration import Endpoint
from designer.kinds.files import FileSettings
from designer.sentences import Sentence
from runtime.files.download_answers import FilePlace
from runtime.http.conditions import strong_tags
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem, unknown_route
from runtime.request_context import Exchange, ReceivedFile
from runtime.steps import FoundRecord, Steps

# A list of files is answered whole or refused, as a multi query is.
MOST_NOTES = 1_000

# An id that no file has, for an If-Match with weak tags alone, which never match.
_NO_FILE = "-"


@dataclass(frozen=True, slots=True)
class ColumnStore:
    """Keeps one file, in the record's column `attribute`."""

    platform: Platform
    entity: str
    attribute: str
    # What comes before a write without If-Match.
    steps: Steps
    # The same steps, which read the file's column, too: for downloads, and for writes with If-Match.
    reading: Steps

    @property
    def max_size(self) -> int | None:
        """The size limit of the column in bytes; None when the platform does not say."""
        return self.platform.attributes(self.entity)[self.attribute].max_size

    @property
    def is_image(self) -> bool:
        """Whether the column holds an image."""
        return self.platform.attributes(self.entity)[self.attribute].type is AttributeType.IMAGE

    def put(self, exchange: Exchange, file: ReceivedFile) -> Guid:
        """Store the file in the column, and return its id.

        Raises RecordNotFound, StateConflict when others keep changing the record, and Problem 412 when the
        column has no file that `If-Match` names.
        """
        tags = _wanted_tags(exchange)
        steps = self.steps if tags is None else self.reading
        return steps.write(
            exchange, None, lambda record, version: self._put(exchange, file, tags, record, version)
        )

    def find(self, exchange: Exchange) -> FilePlace:
        """Return the file in the column. Raises RecordNotFound, and Problem 404 while the column is empty."""
        record = self.reading.read(exchange)
        return _file_place(self.entity, record.id, self.attribute, record.values[self.attribute])

    def _put(
        self,
        exchange: Exchange,
        file: ReceivedFile,
        tags: Collection[str] | None,
        record: FoundRecord | None,
        version: str | None,
    ) -> Guid:
        """Write the file into the column, and return its id. `tags` are as `_wanted_tags` returns them;
        `record` and `version` are what the steps read. Raises Problem 412 for another file than If-Match
        names.
        """
        if tags is not None:
            held_file = record.values[self.attribute] if record else None
            if not isinstance(held_file, FileInfo):
                held_file = None
            if held_file is None or (tags and held_file.id not in tags):
                # The try that this request takes over may have stored the file.
                if held_file is not None and exchange.taken_over and self._holds(file, held_file, exchange):
                    return held_file.id
                raise Problem(412, "version_mismatch", "The file has changed since the one in If-Match.")
        # An earlier try of the same write may have read the file to its end.
        file.content.seek(0)
        place = (self.entity, exchange.record_id, self.attribute)
        return _upload(self.platform, exchange, file, *place, if_version=version).id

    def _holds(self, file: ReceivedFile, held_file: FileInfo, exchange: Exchange) -> bool:
        """Whether the column's file `held_file` has the name and the bytes of `file`."""
        if (held_file.file_name, held_file.size) != (file.name, file.size):
            return False
        place = (self.entity, exchange.record_id, self.attribute)
        download = self.platform.download(*place, known=held_file, call=exchange.call)
        if download is None:
            return False
        file.content.seek(0)
        is_same = True
        # Chunks have to be read to their end.
        for chunk in download.chunks:
            is_same &= file.content.read(len(chunk)) == chunk
        return is_same


@dataclass(frozen=True, slots=True)
class NoteStore:
    """Keeps any number of files, each in one of the `notes` about the record."""

    platform: Platform
    entity: str
    notes: Notes
    steps: Steps

    @property
    def max_size(self) -> int | None:
        return self.platform.attributes(self.notes.entity)[self.notes.file].max_size

    def put(self, exchange: Exchange, file: ReceivedFile) -> Guid:
        """Create a note with the file, and return the note's id.

        Raises RecordNotFound. If the file cannot be stored, the note is deleted again.
        """
        self.steps.read(exchange)
        note = self._create_note(exchange, file)
        try:
            _upload(self.platform, exchange, file, self.notes.entity, note, self.notes.file)
        except BaseException:
            # The failure of the upload says more than that of the deletion.
            with suppress(PlatformError):
                self.platform.delete(self.notes.entity, note)
            raise
        return note

    def find(self, exchange: Exchange) -> FilePlace:
        """Return the note's file. Raises RecordNotFound, and Problem 404 for a note of another record."""
        if self.steps.asks_rules_only and (place := self._place_under_rules(exchange)) is not None:
            return place
        # The query has found nothing, or could not be used. These two reads tell whether the record or the
        # note is missing.
        self.steps.run(exchange)
        notes, columns = self.notes, (self.notes.regarding, self.notes.file)
        note = self.platform.retrieve(notes.entity, exchange.file_id, columns, call=exchange.call)
        if not self._is_about(note.values[notes.regarding], exchange):
            raise unknown_route()
        return _file_place(notes.entity, note.id, notes.file, note.values[notes.file])

    def _place_under_rules(self, exchange: Exchange) -> FilePlace | None:
        """Return the path's file if the caller reaches the record; None if one of the two is missing.

        One query asks for both.
        """
        notes, id = self.notes, exchange.file_id
        query = Query(
            notes.entity,
            columns=(QueryColumn(notes.regarding), QueryColumn(notes.file)),
            filter=Filter((Condition(notes.id, Operator.EQ, (id,)),)),
            links=(self.steps.link(exchange, notes.regarding),),
        )
        rows = self.platform.query(query, Page(1), call=exchange.call).rows
        if not rows or not self._is_about(rows[0][notes.regarding], exchange):
            return None
        return _file_place(notes.entity, id, notes.file, rows[0][notes.file])

    def attachments(self, exchange: Exchange) -> list[dict[str, Any]]:
        """Return the attachments, the oldest first. Raises RecordNotFound, Problem 422 for too many."""
        self.steps.read(exchange)
        answer = self.platform.query(self._query(exchange.record_id), Page(MOST_NOTES), call=exchange.call)
        if answer.next is not None:
            raise Problem(422, "too_many_records", f"The record has more than {MOST_NOTES} files.")
        return list(self._notes_json(answer.rows, exchange))

    def _notes_json(self, rows: list[dict[str, Any]], exchange: Exchange) -> Iterator[dict[str, Any]]:
        """Yield the description of each file whose note is about the record."""
        for row in rows:
            if self._is_about(row[self.notes.regarding], exchange):
                yield {
                    "id": row[self.notes.id],
                    "fileName": row[self.notes.file_name],
                    "contentType": row[self.notes.content_type],
                    "size": row[self.notes.size],
                    "createdOn": row[self.notes.created],
                }

    def _query(self, record: Guid) -> Query:
        """Return the query for the notes of a record that have a file, the oldest first."""
        notes = self.notes
        names = (notes.id, notes.file_name, notes.content_type, notes.size, notes.created, notes.regarding)
        return Query(
            notes.entity,
            columns=tuple(QueryColumn(name) for name in names),
            filter=Filter(
                (
                    Condition(notes.regarding, Operator.EQ, (record,)),
                    Condition(notes.has_file, Operator.EQ, (True,)),
                )
            ),
            orders=(Order(notes.created),),
        )

    def _create_note(self, exchange: Exchange, file: ReceivedFile) -> Guid:
        """Create a note without its file, and return its id."""
        record = Reference(self.entity, exchange.record_id)
        values: dict[str, Value] = {self.notes.subject: file.name, self.notes.regarding: record}
        try:
            return self.platform.create(
                self.notes.entity, values, id=exchange.chosen_id, call=exchange.call
            ).id
        except DuplicateKey:
            # The try that this request takes over may have created the note.
            if not exchange.taken_over or exchange.chosen_id is None:
                raise
            return exchange.chosen_id

    def _is_about(self, regarding: Any, exchange: Exchange) -> bool:
        """Whether a note's lookup `regarding` refers to the record in the path."""
        return (
            isinstance(regarding, Reference)
            and regarding.entity == self.entity
            and regarding.id == exchange.record_id
        )


def store_of(settings: FileSettings, endpoint: Endpoint, platform: Platform) -> ColumnStore | NoteStore:
    """Return the store for the files of an endpoint: the record's notes, or a column.

    Raises Misconfigured, MetadataError, InvalidQuery, ExpressionError.
    """
    if endpoint.entity is None:
        raise Misconfigured(Sentence("files need an entity"))
    entity, steps = endpoint.entity.entity, Steps(endpoint, platform)
    if settings.notes:
        notes = platform.conventions.notes
        if notes is None or not platform.entities()[entity].has_notes:
            raise Misconfigured(Sentence("%(entity)s has no notes", entity=entity))
        return NoteStore(platform, entity, notes, steps)
    attribute = platform.attributes(entity).get(settings.attribute)
    if attribute is None or not attribute.type.holds_file:
        raise Misconfigured(
            Sentence("%(entity)s has no file column %(name)s", entity=entity, name=repr(settings.attribute))
        )
    reading = Steps(endpoint, platform, reads=(settings.attribute,))
    return ColumnStore(
        platform=platform, entity=entity, attribute=settings.attribute, steps=steps, reading=reading
    )


def _wanted_tags(exchange: Exchange) -> Collection[str] | None:
    """Return the tags of the files that `If-Match` names; empty for any file, None without the header."""
    if_match = exchange.request.META.get("HTTP_IF_MATCH")
    if if_match is None:
        return None
    # Without a strong tag no file matches, whereas an empty result would stand for any file.
    return () if if_match.strip() == "*" else strong_tags(if_match) or (_NO_FILE,)


def _upload(
    platform: Platform,
    exchange: Exchange,
    file: ReceivedFile,
    entity: str,
    id: Guid,
    attribute: str,
    *,
    if_version: str | None = None,
) -> FileInfo:
    """Upload a received file into a column of a record. Return what the platform says of the file."""
    return platform.upload(
        entity,
        id,
        attribute,
        file.content,
        file_name=file.name,
        content_type=file.content_type,
        if_version=if_version,
        call=exchange.call,
    )


def _file_place(entity: str, id: Guid, attribute: str, info: Any) -> FilePlace:
    """Return the place of a file. Raises Problem 404 when `info` is no file: the column is empty."""
    if not isinstance(info, FileInfo):
        raise unknown_route()
    return FilePlace(entity, id, attribute, info)
