"""Create, retrieve, update and delete one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crmclient.dataverse import paths
from crmclient.dataverse.api import REFERENCES, Api, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import check, is_unreadable
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records import parties
from crmclient.dataverse.records.decoding import property_name, reader
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.writes import Writes, record_id, require_no_content, stored_record
from crmclient.errors import (
    InvalidRecord,
    RecordNotFound,
    StateConflict,
    UnknownAttribute,
    VersionMismatch,
)
from crmclient.platform import Call, Create, Delete, Update
from crmclient.sentences import Sentence
from crmclient.values import Guid, Record, Stored, Value

_DUPLICATE = 412
"""Dataverse's status for a create with the id of a record that exists."""
_ATTEMPTS = 3
"""How often an update is tried that has to read the record first, while others change it in between."""


class Records:
    """Reads and writes single records. Raises what the methods of `Platform` raise."""

    def __init__(self, api: Api, catalogue: Catalogue, writes: Writes, files: FileFacts) -> None:
        self._api = api
        self._catalogue = catalogue
        self._writes = writes
        self._files = files

    def create(self, operation: Create, call: Call) -> Stored:
        """Create a record. The version that is returned is None if its creator may not read the record."""
        request, subject = self._writes.create(operation, call)
        answer = self._api.client.send(request, call)
        if is_unreadable(answer) and not self._writes.creates_unreadable_records((operation,), call):
            # Whoever may create and not read is refused the answer alone: the record may be there. With the
            # id that it has been given, making it again makes no other.
            self._writes.note_unreadable_records((operation,), call)
            same_operation = replace(operation, id=subject.id)
            answer = self._api.client.send(self._writes.create(same_operation, call)[0], call)
            if answer.status == _DUPLICATE:
                return Stored(subject.id, None)
        elif answer.after_loss and answer.status == _DUPLICATE:
            # What the first attempt did is not lost with its answer.
            try:
                return Stored(subject.id, self.retrieve(operation.entity, subject.id, (), call).version)
            except RecordNotFound:
                # The id is free, so the answer means something else: `check` raises it.
                pass
        check(answer, subject, acting=call.caller is not None)
        return stored_record(subject, answer)

    def update(self, operation: Update, call: Call) -> Stored:
        """Update a record. Raises StateConflict if others change it during every attempt."""
        for _ in range(_ATTEMPTS):
            request, subject = self._writes.update(operation, call)
            try:
                return stored_record(subject, self._api.send(request, subject, call))
            except VersionMismatch:
                if operation.if_version is not None:
                    raise
                # The request had a version all the same: that of the parties read for it (`Writes.update`).
        raise StateConflict(f"The {operation.entity} is changed by others all the time.")

    def delete(self, operation: Delete, call: Call) -> None:
        request, subject = self._writes.delete(operation)
        require_no_content(self._api.send(request, subject, call), Sentence("a delete"))

    def retrieve(self, entity_name: str, id: Guid, columns: Sequence[str], call: Call) -> Record:
        """Return a record. Raises the errors of `Platform.retrieve`.

        One request reads it, with its party lists expanded. The facts of a file take properties beside that
        of its column.
        """
        entity = self._catalogue.entity(entity_name)
        attributes = self._catalogue.document(entity_name).attributes
        unknown = [name for name in columns if name not in attributes or not attributes[name].readable]
        if unknown:
            raise InvalidRecord(
                entity_name,
                [UnknownAttribute(name, f"{entity_name} has no such attribute to read.") for name in unknown],
            )
        id = record_id(entity, id)
        wanted_attributes = [attributes[name] for name in columns]
        files = [attribute for attribute in wanted_attributes if attribute.type.holds_file]
        lists = [attribute.logical_name for attribute in wanted_attributes if attribute.type.holds_parties]
        selected = [
            property_name(attribute)
            for attribute in wanted_attributes
            if not (attribute.type.holds_file or attribute.type.holds_parties)
        ]
        selected += [name for attribute in files for name in self._files.properties(entity_name, attribute)]
        has_references = any(attribute.type.is_reference for attribute in wanted_attributes)
        row = self._api.get(
            paths.with_query(
                paths.record(entity, id),
                {
                    "$select": ",".join(dict.fromkeys([entity.primary_id, *selected])),
                    **(parties.expansion(entity) if lists else {}),
                },
            ),
            Subject(Kind.RECORD, entity_name, id),
            call,
            prefer=REFERENCES if lists or has_references else None,
        )
        version = version_in(row, entity.primary_id)
        values: dict[str, Value] = dict.fromkeys(columns)
        values |= parties.of_row(row, entity, lists) if lists else {}
        for attribute in wanted_attributes:
            if attribute.type.holds_parties:
                continue
            if attribute.type.holds_file:
                read = self._files.reader(entity, id, attribute, version or "", call)
            else:
                read = reader(attribute, property_name(attribute))
            values[attribute.logical_name] = read(row)
        return Record(entity_name, id, version, values)
