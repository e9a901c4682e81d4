"""The requests that write one record: sent alone, or as the parts of a change set."""

from __future__ import annotations

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api, tag_of, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.parties import Parties
from crmclient.dataverse.records.payload import payload
from crmclient.dataverse.records.record_answers import RecordAnswers
from crmclient.errors import InvalidRecord, RecordNotFound, UnexpectedAnswer, WrongType
from crmclient.metadata import Entity
from crmclient.parties import collection_of
from crmclient.platform import Call, Create, Delete, Update
from crmclient.sentences import Sentence
from crmclient.values import Guid, Stored, Values, new_guid, parse_guid

_NO_CONTENT = 204


class Writes:
    """Makes requests, each with its subject. A write asks for the record's new version, wherever the user may
    read the record.

    An update of some of an activity's party lists reads the others before.
    """

    def __init__(self, api: Api, catalogue: Catalogue, parties: Parties, answers: RecordAnswers) -> None:
        self._api = api
        self._catalogue = catalogue
        self._parties = parties
        self._answers = answers

    def create(self, operation: Create, call: Call) -> tuple[Request, Subject]:
        """Return the request for a create, and its subject.

        The id is chosen here if the caller has chosen none, so that sending the request again cannot create a
        second record.
        """
        entity = self._catalogue.entity(operation.entity)
        content = payload(self._catalogue, entity, operation.values, creating=True)
        id = content[entity.primary_id] = _choose_id(entity, operation)
        request = self._api.request(
            "POST", entity.entity_set, content, duplicate_detection(call), repeatable=True
        )
        request = self._answers.ask(request, entity.logical_name, entity.primary_id, call)
        return request, self._subject(entity, id, operation.values)

    def update(self, operation: Update, call: Call) -> tuple[Request, Subject]:
        """Return the request for an update, and its subject.

        The request always has an `If-Match`: without one, Dataverse would create a missing record.
        """
        entity = self._catalogue.entity(operation.entity)
        id = record_id(entity, operation.id)
        content = payload(self._catalogue, entity, operation.values, creating=False)
        version = operation.if_version
        parties = collection_of(entity.logical_name)
        if parties in content:
            other_parties, read_version = self._parties.parties_of_other_lists(
                entity, id, operation.values, call
            )
            content[parties] = [*content[parties], *other_parties]
            # Whoever changes the parties meanwhile would lose what they wrote.
            version = version or read_version
        request = self._api.request(
            "PATCH",
            paths.record(entity, id),
            content,
            {"If-Match": tag_of(version), **duplicate_detection(call)},
        )
        request = self._answers.ask(request, entity.logical_name, entity.primary_id, call)
        return request, self._subject(entity, id, operation.values)

    def delete(self, operation: Delete) -> tuple[Request, Subject]:
        """Return the request for a delete, and its subject."""
        entity = self._catalogue.entity(operation.entity)
        id = record_id(entity, operation.id)
        headers = {} if operation.if_version is None else {"If-Match": tag_of(operation.if_version)}
        request = self._api.request("DELETE", paths.record(entity, id), headers=headers)
        return request, self._subject(entity, id, {})

    def _subject(self, entity: Entity, id: Guid, values: Values) -> Subject:
        """Return what the errors of a write of `values` are to name: the record, its keys and its values."""
        return Subject(
            Kind.RECORD,
            entity.logical_name,
            id,
            values=values,
            keys=entity.keys,
            primary_id=entity.primary_id,
        )


def duplicate_detection(call: Call) -> dict[str, str]:
    """Return the header that turns duplicate detection on, if the call wants it. Without the header it is
    off.
    """
    return {"MSCRM.SuppressDuplicateDetection": "false"} if call.refuses_duplicates else {}


def stored_record(subject: Subject, answer: Answer) -> Stored:
    """Return the id and the version after a write. The version is None if the answer has no content or no
    tag.
    """
    if answer.status == _NO_CONTENT:
        return Stored(subject.id, None)
    return Stored(subject.id, version_in(answer.json(), subject.primary_id))


def require_no_content(answer: Answer, write: Sentence) -> None:
    """Raise UnexpectedAnswer unless the answer is 204.

    Dataverse answers such a write without content, so that any other success comes from something in between.
    `write` names what was asked for, such as "a delete".
    """
    if answer.status != _NO_CONTENT:
        raise UnexpectedAnswer(
            Sentence("The platform answers %(write)s with %(status)s.", write=write, status=answer.status)
        )


def record_id(entity: Entity, id: Guid) -> Guid:
    """Return an id in its canonical form. Raises RecordNotFound for a text that is no GUID: no record has
    it.
    """
    try:
        return parse_guid(id)
    except (TypeError, ValueError):
        raise RecordNotFound(entity.logical_name, str(id)) from None


def _choose_id(entity: Entity, operation: Create) -> Guid:
    """Return the id that the caller chose, by `id` or among the values, or a new one. Raises
    InvalidRecord.
    """
    given_ids = [id for id in (operation.id, operation.values.get(entity.primary_id)) if id is not None]
    try:
        chosen = {parse_guid(str(id)) for id in given_ids}
    except ValueError as error:
        problem = WrongType(entity.primary_id, f"{error}.")
        raise InvalidRecord(entity.logical_name, [problem]) from None
    if len(chosen) > 1:
        problem = WrongType(entity.primary_id, "Another id was chosen too.")
        raise InvalidRecord(entity.logical_name, [problem])
    return chosen.pop() if chosen else new_guid()
