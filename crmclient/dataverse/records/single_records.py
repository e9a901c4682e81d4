"""Create, retrieve, update and delete one record."""

from __future__ import annotations

from collections.abc import Sequence

from crmclient.dataverse import paths
from crmclient.dataverse.api import REFERENCES, Api, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import check
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records import parties
from crmclient.dataverse.records.decoding import property_name, reader
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.record_answers import RecordAnswers
from crmclient.dataverse.records.writes import Writes, record_id, require_no_content, stored_record
from crmclient.errors import (
    AccessDenied,
    InvalidRecord,
    MissingPrivilege,
    RecordNotFound,
    StateConflict,
    UnknownAttribute,
    VersionMismatch,
)
from crmclient.metadata import Attribute, Entity
from crmclient.platform import Call, Create, Delete, Update
from crmclient.sentences import Sentence
from crmclient.values import Guid, Record, Stored, Value

_DUPLICATE = 412
"""Dataverse's status for a create with the id of a record that exists."""
_ATTEMPTS = 3
"""How often an update is tried that has to read the record first, while others change it in between."""


class Records:
    """Reads and writes single records. Raises what the methods of `Platform` raise."""

    def __init__(
        self, api: Api, catalogue: Catalogue, writes: Writes, answers: RecordAnswers, files: FileFacts
    ) -> None:
        self._api = api
        self._catalogue = catalogue
        self._writes = writes
        self._answers = answers
        self._files = files

    def create(self, operation: Create, call: Call) -> Stored:
        """Create a record. The version that is returned is None if its creator may not read the record."""
        request, subject = self._writes.create(operation, call)
        # With the id that it has been given, making the record again makes no other.
        answer = self._answers.send(request, subject, call)
        if answer is None:
            return Stored(subject.id, None)
        if answer.after_loss and answer.status == _DUPLICATE:
            # What the first attempt did is not lost with its answer.
            try:
                return Stored(subject.id, self.retrieve(operation.entity, subject.id, (), call).version)
            except (AccessDenied, MissingPrivilege):
                return Stored(subject.id, None)
            except RecordNotFound:
                # The id is free, so the answer means something else: `check` raises it.
                pass
        check(answer, subject, acting=call.caller is not None)
        return stored_record(subject, answer)

    def update(self, operation: Update, call: Call) -> Stored:
        """Update a record. Raises StateConflict if others change it during every attempt.

        The version that is returned is None if the user may not read the record.
        """
        for _ in range(_ATTEMPTS):
            request, subject = self._writes.update(operation, call)
            answer = self._answers.send(request, subject, call)
            if answer is None:
                return Stored(subject.id, None)
            try:
                check(answer, subject, acting=call.caller is not None)
            except VersionMismatch:
                if operation.if_version is not None:
                    raise
                # The request had a version all the same: that of the parties read for it (`Writes.update`).
            else:
                return stored_record(subject, answer)
        raise StateConflict(f"The {operation.entity} is changed by others all the time.")

    def delete(self, operation: Delete, call: Call) -> None:
        request, subject = self._writes.delete(operation)
        require_no_content(self._api.send(request, subject, call), Sentence("a delete"))

    def retrieve(self, entity_name: str, id: Guid, columns: Sequence[str], call: Call) -> Record:
        """Return a record, with the parties of its lists. Raises the errors of `Platform.retrieve`."""
        entity = self._catalogue.entity(entity_name)
        wanted = self._readable_attributes(entity_name, columns)
        id = record_id(entity, id)
        party_lists = [attribute.logical_name for attribute in wanted if attribute.type.holds_parties]
        has_references = any(attribute.type.is_reference for attribute in wanted)
        query = {"$select": ",".join(self._selected_properties(entity, wanted))}
        if party_lists:
            query |= parties.expansion(entity)
        row = self._api.get(
            paths.with_query(paths.record(entity, id), query),
            Subject(Kind.RECORD, entity_name, id),
            call,
            prefer=REFERENCES if party_lists or has_references else None,
        )
        version = version_in(row, entity.primary_id)
        parties_by_list = parties.of_row(row, entity, party_lists) if party_lists else {}
        values: dict[str, Value] = {}
        for attribute in wanted:
            name = attribute.logical_name
            if attribute.type.holds_parties:
                values[name] = parties_by_list[name]
            elif attribute.type.holds_file:
                values[name] = self._files.reader(entity, id, attribute, version or "", call)(row)
            else:
                values[name] = reader(attribute, property_name(attribute))(row)
        return Record(entity_name, id, version, values)

    def _readable_attributes(self, entity_name: str, columns: Sequence[str]) -> list[Attribute]:
        """Return the attributes that are named by `columns`. Raises InvalidRecord for names of no attribute
        that can be read.
        """
        attributes = self._catalogue.document(entity_name).attributes
        unknown = [name for name in columns if name not in attributes or not attributes[name].readable]
        if unknown:
            raise InvalidRecord(
                entity_name,
                [UnknownAttribute(name, f"{entity_name} has no such attribute to read.") for name in unknown],
            )
        return [attributes[name] for name in columns]

    def _selected_properties(self, entity: Entity, wanted: Sequence[Attribute]) -> list[str]:
        """Return the properties of a record that hold the `wanted` attributes, and its id.

        Party lists have none: they come by `parties.expansion`. A file has those that describe it.
        """
        properties = [entity.primary_id]
        for attribute in wanted:
            if attribute.type.holds_file:
                properties += self._files.properties(entity.logical_name, attribute)
            elif not attribute.type.holds_parties:
                properties.append(property_name(attribute))
        # Columns may be asked for twice; a property may not.
        return list(dict.fromkeys(properties))
