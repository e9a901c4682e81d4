"""Finds the column that an upload or download names."""

from __future__ import annotations

from dataclasses import dataclass

from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.writes import record_id
from crmclient.errors import InvalidRecord, UnknownAttribute, WrongType
from crmclient.metadata import Attribute, Entity
from crmclient.values import Guid


@dataclass(frozen=True, slots=True)
class Column:
    """The file column of one record."""

    entity: Entity
    record: Guid
    attribute: Attribute

    @property
    def subject(self) -> Subject:
        return Subject(Kind.FILE, self.entity.logical_name, self.record, self.attribute.logical_name)


def column(catalogue: Catalogue, entity_name: str, id: Guid, name: str) -> Column:
    """Return a file or image column of a record.

    Raises UnknownEntity, RecordNotFound for what can be no id, and InvalidRecord for any other attribute.
    """
    entity = catalogue.entity(entity_name)
    # The list of entities has no attributes: those are fetched entity by entity.
    attribute = catalogue.document(entity_name).attributes.get(name)
    if attribute is None:
        raise InvalidRecord(entity_name, [UnknownAttribute(name, f"{entity_name} has no such attribute.")])
    if not attribute.type.holds_file:
        raise InvalidRecord(entity_name, [WrongType(name, "It is no file or image column.")])
    return Column(entity, record_id(entity, id), attribute)
