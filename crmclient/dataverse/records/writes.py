"""The requests that write one record: sent alone, or as the parts of a change set."""

from __future__ import annotations

from crmclient.dataverse import paths
from crmclient.dataverse.api import REPRESENTATION, Api, tag_of, version_of
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.payload import payload
from crmclient.dataverse.subjects import Kind, Subject
from crmclient.errors import InvalidRecord, RecordNotFound, UnexpectedAnswer, WrongType
from crmclient.metadata import Entity
from crmclient.platform import Call, Create, Delete, Update
from crmclient.values import Guid, Stored, Values, new_guid, parse_guid

_NO_CONTENT = 204


class Writes:
    """Makes requests, each with its subject. Every write answers with the record's new version."""

    def __init__(self, api: Api, catalogue: Catalogue) -> None:
        self._api = api
        self._catalogue = catalogue

    def create(self, operation: Create, call: Call) -> tuple[Request, Subject]:
        """With an id that is chosen here at the latest, so that sending it again cannot double the record."""
        entity = self._catalogue.entity(operation.entity)
        content = payload(self._catalogue, entity, operation.values, creating=True)
        id = content[entity.primary_id] = _choose_id(entity, operation)
        request = self._api.request(
            "POST",
            paths.with_query(entity.entity_set, {"$select": entity.primary_id}),
            content,
            {"Prefer": REPRESENTATION, **duplicate_detection(call)},
            repeatable=True,
        )
        return request, self._subject(entity, id, operation.values)

    def update(self, operation: Update, call: Call) -> tuple[Request, Subject]:
        """`If-Match` stands on every one: without it Dataverse would create what is not there."""
        entity = self._catalogue.entity(operation.entity)
        id = record_id(entity, operation.id)
        content = payload(self._catalogue, entity, operation.values, creating=False)
        request = self._api.request(
            "PATCH",
            paths.with_query(paths.record(entity, id), {"$select": entity.primary_id}),
            content,
            {"Prefer": REPRESENTATION, "If-Match": tag_of(operation.if_version), **duplicate_detection(call)},
        )
        return request, self._subject(entity, id, operation.values)

    def delete(self, operation: Delete) -> tuple[Request, Subject]:
        entity = self._catalogue.entity(operation.entity)
        id = record_id(entity, operation.id)
        headers = {} if operation.if_version is None else {"If-Match": tag_of(operation.if_version)}
        request = self._api.request("DELETE", paths.record(entity, id), headers=headers)
        return request, self._subject(entity, id, {})

    def _subject(self, entity: Entity, id: Guid, values: Values) -> Subject:
        return Subject(
            Kind.RECORD,
            entity.logical_name,
            id,
            values=values,
            keys=entity.keys,
            primary_id=entity.primary_id,
        )


def duplicate_detection(call: Call) -> dict[str, str]:
    """The header that asks for it: without one Dataverse leaves its rules alone."""
    return {"MSCRM.SuppressDuplicateDetection": "false"} if call.refuses_duplicates else {}


def stored(subject: Subject, answer: Answer) -> Stored:
    """What a write has left. Raises UnexpectedAnswer when the answer does not say."""
    return Stored(subject.id, version_of(answer.json().get("@odata.etag")))


def no_content(answer: Answer, write: str) -> None:
    """Raises UnexpectedAnswer for a success that says anything: it comes from something on the way.

    `write` is what was asked for, such as "a delete".
    """
    if answer.status != _NO_CONTENT:
        raise UnexpectedAnswer(f"The platform answers {write} with {answer.status}.")


def record_id(entity: Entity, id: Guid) -> Guid:
    """An id in its canonical form. What is no GUID is the id of no record: raises RecordNotFound."""
    try:
        return parse_guid(id)
    except (TypeError, ValueError):
        raise RecordNotFound(entity.logical_name, str(id)) from None


def _choose_id(entity: Entity, operation: Create) -> Guid:
    """The id that the caller chose, beside the values or among them, or a new one."""
    given = [id for id in (operation.id, operation.values.get(entity.primary_id)) if id is not None]
    try:
        chosen = {parse_guid(str(id)) for id in given}
    except ValueError as error:
        problem = WrongType(entity.primary_id, f"{error}.")
        raise InvalidRecord(entity.logical_name, [problem]) from None
    if len(chosen) > 1:
        problem = WrongType(entity.primary_id, "Another id was chosen too.")
        raise InvalidRecord(entity.logical_name, [problem])
    return chosen.pop() if chosen else new_guid()
