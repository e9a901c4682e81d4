"""Tying and untying two records: `POST` and `DELETE` of `…/{collection}/$ref`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.writes import record_id, require_no_content
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound, UnknownRelationship
from crmclient.metadata_parts import RELATIONSHIPS
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import Guid, Reference


class _Pair(NamedTuple):
    """`path` leads to the collection of the first record; `subject` is that record. `other` is the second
    record, and `other_path` leads to it.
    """

    path: str
    subject: Subject
    other: Reference
    other_path: str


class Associations:
    """Ties records and unties them. Raises as `Platform`. Both requests can be repeated without harm.

    `retrieve` reads a record, as `Records.retrieve` does.
    """

    def __init__(
        self,
        api: Api,
        catalogue: Catalogue,
        retrieve: Callable[[str, Guid, Sequence[str], Call], Any],
    ) -> None:
        self._api = api
        self._catalogue = catalogue
        self._retrieve = retrieve

    def associate(self, entity: str, id: Guid, relationship: str, related: Guid, call: Call) -> None:
        """Tie the record `id` to the record `related` of the relationship's other entity."""
        pair = self._pair(entity, id, relationship, related)
        content = {"@odata.id": f"{self._api.base}{pair.other_path}"}
        try:
            answer = self._api.write(
                "POST", f"{pair.path}/$ref", content, pair.subject, call, repeatable=True
            )
        except DuplicateKey:
            # Dataverse keeps the pairs of a relationship unique, and says so: they are tied already.
            return
        except InvalidRecord:
            # By the subject that `_pair` makes, this error says that there is no other record.
            raise RecordNotFound(pair.other.entity, pair.other.id) from None
        require_no_content(answer, Sentence("an association"))

    def disassociate(self, entity: str, id: Guid, relationship: str, related: Guid, call: Call) -> None:
        """Untie the record `id` from the record `related`. Do nothing if they are not tied."""
        pair = self._pair(entity, id, relationship, related)
        path = f"{pair.path}({pair.other.id})/$ref"
        try:
            answer = self._api.write("DELETE", path, None, pair.subject, call, repeatable=True)
        except InvalidRecord:
            # The answer names the other record: either there is none, or the two are not tied. Only the first
            # is an error, and the answer does not tell them apart: `retrieve` raises RecordNotFound.
            self._retrieve(pair.other.entity, pair.other.id, (), call)
            return
        require_no_content(answer, Sentence("a disassociation"))

    def _pair(self, entity_name: str, id: Guid, relationship: str, related: Guid) -> _Pair:
        """Return the addresses of both records for a relationship. Raises UnknownRelationship."""
        entity = self._catalogue.entity(entity_name)
        document = self._catalogue.document(entity_name)
        document.require(RELATIONSHIPS)
        ends = (
            candidate.other_end(entity_name)
            for candidate in document.relationships
            if candidate.name == relationship
        )
        other_name = next(ends, None)
        if other_name is None:
            raise UnknownRelationship(entity_name, relationship)
        other = self._catalogue.entity(other_name)
        id, related = record_id(entity, id), record_id(other, related)
        reference = Reference(other_name, related)
        return _Pair(
            f"{paths.record(entity, id)}/{document.collection_of(relationship)}",
            # An error that names the other record is read as one about a value that points at it.
            Subject(Kind.RECORD, entity_name, id, values={relationship: reference}),
            reference,
            paths.record(other, related),
        )
