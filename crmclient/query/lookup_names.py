"""Names of records as columns: in queries, `customeridname` is the name of the record in `customerid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crmclient.metadata import Attribute, AttributeType

NAME_SUFFIX: Final = "name"
"""What follows the name of a lookup in the name of such a column."""


def lookup_named_by(column: str, attributes: Mapping[str, Attribute]) -> Attribute | None:
    """Return the lookup whose record's name is in `column`.

    None when no lookup is called so, and when the entity has an attribute `column`: that attribute counts.
    """
    if column in attributes or not column.endswith(NAME_SUFFIX):
        return None
    lookup = attributes.get(column.removesuffix(NAME_SUFFIX))
    return lookup if lookup is not None and lookup.type.is_reference else None


def attribute_of_column(column: str, attributes: Mapping[str, Attribute]) -> Attribute | None:
    """Return the attribute `column`, or a text for the name of a lookup's record; None for an unknown name.

    Such a name can be read where its lookup can: it says what the lookup holds.
    """
    lookup = lookup_named_by(column, attributes)
    if lookup is not None:
        return Attribute(column, AttributeType.STRING, label=lookup.label, readable=lookup.readable)
    return attributes.get(column)
