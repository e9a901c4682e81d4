"""The keys of columns: those that they have in answers, by the HTTP contract's rule, and those of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crmclient.metadata import Attribute
from designer.definitions import ColumnDefinition
from designer.names import output_key

_ID = "id"


def column_key(column: ColumnDefinition, attribute: Attribute | None) -> str:
    """A lookup is an object with an id of its own, so it loses a trailing one: `customerid` → `customer`.

    `attribute` is None for a calculated column.
    """
    key = output_key(column.shown_as)
    if attribute is None:
        return key
    if attribute.type.is_reference and key.lower().endswith(_ID) and len(key) > len(_ID):
        return key[: -len(_ID)]
    return key


def label_key(key: str) -> str:
    return f"{key}Label"


def keys(column: ColumnDefinition, attribute: Attribute | None, labels: bool) -> Iterator[str]:
    """All that the column puts into an answer."""
    key = column_key(column, attribute)
    yield key
    if labels and attribute is not None and attribute.type.has_options:
        yield label_key(key)


def row_keys(path: Sequence[str], known: Mapping[str, Attribute]) -> tuple[str, ...]:
    """The keys of a row that an expression reads as `record.…`; none where there is no such field.

    A key `contact.email`, a link's column, is read as `record.contact.email`; `record.contact` alone is all
    that the link adds. What follows an attribute is inside its value: `record.customerid.name`.
    """
    for length in range(len(path), 0, -1):
        key = ".".join(path[:length])
        if key in known:
            return (key,)
    return tuple(key for key in known if key.startswith(f"{path[0]}.")) if len(path) == 1 else ()
