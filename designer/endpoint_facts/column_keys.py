"""The keys of columns: those that they have in answers, by the HTTP contract's rule, and those of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crmclient.metadata import Attribute
from designer.definitions import ColumnDefinition
from designer.names import output_key

_ID = "id"


def column_key(column: ColumnDefinition, attribute: Attribute | None) -> str:
    """Return the key of the column in an answer. `attribute` is None for a calculated column.

    A lookup is answered as an object that has an `id` itself, so its key loses a trailing one: `customerid`
    becomes `customer`.
    """
    key = output_key(column.shown_as)
    if attribute is None:
        return key
    if attribute.type.is_reference and key.lower().endswith(_ID) and len(key) > len(_ID):
        return key[: -len(_ID)]
    return key


def label_key(key: str) -> str:
    """Return the key of the label of an option, whose value has the key `key`."""
    return f"{key}Label"


def keys_in_answer(column: ColumnDefinition, attribute: Attribute | None, labels: bool) -> Iterator[str]:
    """Yield the keys that the column adds to an answer: its own and, with `labels`, that of an option's
    label.
    """
    key = column_key(column, attribute)
    yield key
    if labels and attribute is not None and attribute.type.has_options:
        yield label_key(key)


def row_keys(path: Sequence[str], attributes: Mapping[str, Attribute]) -> tuple[str, ...]:
    """Return the keys of a row that an expression reads by `record.…`; none where no field has that name.

    The key `contact.email`, a column of a link, is read as `record.contact.email`; `record.contact` alone
    reads all columns of the link. What follows an attribute is inside its value: `record.customerid.name`.
    """
    for length in range(len(path), 0, -1):
        key = ".".join(path[:length])
        if key in attributes:
            return (key,)
    return tuple(key for key in attributes if key.startswith(f"{path[0]}.")) if len(path) == 1 else ()
