"""Finding the column that an upload or download means."""

from __future__ import annotations

from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmclient.errors import InvalidRecord, UnknownAttribute, WrongType
from crmclient.metadata import AttributeType


def file_column(stored: StoredEntity, attribute: str) -> StoredColumn:
    """Raises InvalidRecord unless `attribute` is a file or image column."""
    entity = stored.entity.logical_name
    column = stored.columns.get(attribute)
    if column is None:
        raise InvalidRecord(entity, [UnknownAttribute(attribute, f"{entity} has no such attribute.")])
    if column.attribute.type not in (AttributeType.FILE, AttributeType.IMAGE):
        raise InvalidRecord(entity, [WrongType(attribute, "It is no file or image column.")])
    return column
