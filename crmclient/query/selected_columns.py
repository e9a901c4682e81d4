"""The columns that a designed query selects of one entity, with those that *all columns* stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery


def selected_columns(
    source: DesignedQuery | DesignedLink, attributes: Mapping[str, Attribute]
) -> tuple[DesignedColumn, ...]:
    """Return the columns of the query's entity or of a link, without those of the links in it.

    The columns that are named come first. `attributes` are those of the entity.
    """
    if not source.all_columns:
        return source.columns
    named = {column.attribute for column in source.columns if column.alias is None}
    others = (DesignedColumn(name) for name in _every_column(attributes) if name not in named)
    return (*source.columns, *others)


def _every_column(attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """Yield the attributes that *all columns* stands for.

    Party lists are left out: they are read by a query of their own, and each has to be named.
    """
    return (
        name
        for name, attribute in attributes.items()
        if attribute.readable and not attribute.type.holds_parties
    )
