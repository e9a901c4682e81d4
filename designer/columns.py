"""The keys that columns have in answers. The rule is the HTTP contract's."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.metadata import Attribute
from designer.definitions import ColumnDefinition
from designer.names import output_key

_ID = "id"


def column_key(column: ColumnDefinition, attribute: Attribute) -> str:
    """A lookup is an object with an id of its own, so it loses a trailing one: `ownerid` → `owner`."""
    key = output_key(column.shown_as)
    if attribute.type.is_reference and key.lower().endswith(_ID) and len(key) > len(_ID):
        return key[: -len(_ID)]
    return key


def label_key(key: str) -> str:
    return f"{key}Label"


def keys(column: ColumnDefinition, attribute: Attribute, labels: bool) -> Iterator[str]:
    """All that the column puts into an answer."""
    key = column_key(column, attribute)
    yield key
    if labels and attribute.type.has_options:
        yield label_key(key)
