"""Create, retrieve, update and delete one record."""

from __future__ import annotations

from collections.abc import Sequence

from crmclient.dataverse import paths
from crmclient.dataverse.api import REFERENCES, Api, version_of
from crmclient.dataverse.failures import check
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.decoding import property_name, reader
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.writes import Writes, no_content, record_id, stored
from crmclient.dataverse.subjects import Kind, Subject
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownAttribute
from crmclient.platform import Call, Create, Delete, Update
from crmclient.values import Guid, Record, Stored, Value

_DUPLICATE = 412


class Records:
    """Raises as `Platform`."""

    def __init__(self, api: Api, catalogue: Catalogue, writes: Writes, files: FileFacts) -> None:
        self._api = api
        self._catalogue = catalogue
        self._writes = writes
        self._files = files

    def create(self, operation: Create, call: Call) -> Stored:
        request, subject = self._writes.create(operation, call)
        answer = self._api.client.send(request, call)
        if answer.after_loss and answer.status == _DUPLICATE:
            # What the first attempt did is not lost with its answer.
            try:
                return Stored(subject.id, self.retrieve(operation.entity, subject.id, (), call).version)
            except RecordNotFound:
                pass
        check(answer, subject, acting=call.caller is not None)
        return stored(subject, answer)

    def update(self, operation: Update, call: Call) -> Stored:
        request, subject = self._writes.update(operation, call)
        return stored(subject, self._api.send(request, subject, call))

    def delete(self, operation: Delete, call: Call) -> None:
        request, subject = self._writes.delete(operation)
        no_content(self._api.send(request, subject, call), "a delete")

    def retrieve(self, entity_name: str, id: Guid, columns: Sequence[str], call: Call) -> Record:
        entity = self._catalogue.entity(entity_name)
        attributes = self._catalogue.document(entity_name).attributes
        unknown = [name for name in columns if name not in attributes]
        if unknown:
            raise InvalidRecord(
                entity_name,
                [UnknownAttribute(name, f"{entity_name} has no such attribute.") for name in unknown],
            )
        id = record_id(entity, id)
        wanted = [attributes[name] for name in columns]
        files = [attribute for attribute in wanted if attribute.type.holds_file]
        selected = [property_name(attribute) for attribute in wanted if not attribute.type.holds_file]
        selected += [name for attribute in files for name in self._files.properties(entity_name, attribute)]
        row = self._api.get(
            paths.with_query(
                paths.record(entity, id),
                {"$select": ",".join(dict.fromkeys([entity.primary_id, *selected]))},
            ),
            Subject(Kind.RECORD, entity_name, id),
            call,
            prefer=REFERENCES if any(attribute.type.is_reference for attribute in wanted) else None,
        )
        version = version_of(row.get("@odata.etag"))
        values: dict[str, Value] = {}
        for attribute in wanted:
            if attribute.type.holds_file:
                read = self._files.reader(entity, id, attribute, version, call)
            else:
                read = reader(attribute, property_name(attribute))
            values[attribute.logical_name] = read(row)
        return Record(entity_name, id, version, values)
