"""The rows that a query answers: their keys, the attribute of each key, and how rows are sorted by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from crmclient.metadata import Attribute, AttributeType, Label
from crmclient.query.ast import Aggregate, Order
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.families import FAMILY, UNSORTABLE
from crmclient.query.lookup_names import attribute_of_column
from crmclient.query.selected_columns import selected_columns

_COUNTS = frozenset({Aggregate.COUNT, Aggregate.COUNT_COLUMN})
# An average may fall between two values, so it has this many more places, up to what platforms have.
_MORE_PLACES = 2
_MOST_PLACES = {AttributeType.MONEY: 4, AttributeType.DECIMAL: 10, AttributeType.DOUBLE: 5}
_EXACT = frozenset({AttributeType.MONEY, AttributeType.DECIMAL})


def answered_attributes(
    query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]
) -> dict[str, Attribute]:
    """Return the attribute of each key of a row, in the order of the columns, without unknown attributes.

    `attributes` returns those of an entity. A column that is counted, summed or grouped by a part of a date
    is described by its result.
    """
    attributes_by_key: dict[str, Attribute] = {}
    for key, column, attribute, link in _columns_with_attributes(query, None, attributes):
        answered = _answered_attribute(column, attribute)
        if link is not None or query.is_aggregate:
            # Of a row, only the id and name of its own record are primary, not those of links or groups.
            answered = replace(answered, is_primary_id=False, is_primary_name=False)
        attributes_by_key[key] = answered
    return attributes_by_key


def unknown_keys(
    query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]
) -> frozenset[str]:
    """Return the keys of the columns whose attribute the metadata lack, or the entity with all of its
    attributes. `attributes` returns those of an entity, and none for an unknown entity.

    Such a column is a problem of the query. What uses it need not be called wrong as well.
    """
    return frozenset(_keys_without_attribute(query, "", attributes))


def rounding_places(
    query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]
) -> dict[str, int]:
    """Return the decimal places to round aggregates to, by the key of their column.

    Platforms differ in how many places they give for averages, and for sums of a Double, so both are rounded.
    Other columns, and a Double whose places are unknown, stay as they are.
    """
    places_by_key: dict[str, int] = {}
    for key, column, attribute, _ in _columns_with_attributes(query, None, attributes):
        is_sum_of_double = column.aggregate is Aggregate.SUM and attribute.type is AttributeType.DOUBLE
        if column.aggregate is Aggregate.AVG or is_sum_of_double:
            places = _places(column, attribute)
            if places is not None:
                places_by_key[key] = places
    return places_by_key


def sortable(query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]) -> dict[str, Order]:
    """Return, for each key that rows can be sorted by, how they are sorted, ascending."""
    # Groups and sums are no attributes: they are sorted by the alias of their column.
    by_alias = query.is_aggregate
    return {
        key: Order(alias=key) if by_alias else Order(column.attribute, link=link)
        for key, column, attribute, link in _columns_with_attributes(query, None, attributes)
        if FAMILY[_answered_attribute(column, attribute).type] not in UNSORTABLE
    }


def _columns_with_attributes(
    source: DesignedQuery | DesignedLink,
    link: str | None,
    attributes: Callable[[str], Mapping[str, Attribute]],
) -> Iterator[tuple[str, DesignedColumn, Attribute, str | None]]:
    """Yield the key, the column, its attribute, and the alias of the link that it belongs to (None: of no
    link).
    """
    own_attributes = attributes(source.entity)
    prefix = "" if link is None else f"{link}."
    for column in selected_columns(source, own_attributes):
        attribute = attribute_of_column(column.attribute, own_attributes)
        if attribute is not None:
            yield column.alias or f"{prefix}{column.attribute}", column, attribute, link
    for nested in source.links:
        if nested.type.joins:
            yield from _columns_with_attributes(nested, nested.alias, attributes)


def _keys_without_attribute(
    source: DesignedQuery | DesignedLink,
    prefix: str,
    attributes: Callable[[str], Mapping[str, Attribute]],
) -> Iterator[str]:
    """Yield the keys of the columns of a query or link, and of the links in it, that have no attribute.

    `prefix` stands before the keys of columns without an alias.
    """
    own_attributes = attributes(source.entity)
    for column in source.columns:
        if attribute_of_column(column.attribute, own_attributes) is None:
            yield column.alias or f"{prefix}{column.attribute}"
    for nested in source.links:
        if nested.type.joins:
            yield from _keys_without_attribute(nested, f"{nested.alias}.", attributes)


def _answered_attribute(column: DesignedColumn, attribute: Attribute) -> Attribute:
    """Return the attribute as the column gives it: an aggregate or a date part has another type or other
    limits.
    """
    if column.aggregate in _COUNTS:
        return Attribute(attribute.logical_name, AttributeType.INTEGER, label=Label({1033: "Count"}))
    if column.date_grouping is not None:
        return Attribute(attribute.logical_name, AttributeType.INTEGER, label=attribute.label)
    if column.aggregate is not None:
        # A sum may pass what one record can hold.
        return replace(attribute, minimum=None, maximum=None, precision=_places(column, attribute))
    return attribute


def _places(column: DesignedColumn, attribute: Attribute) -> int | None:
    """Return the decimal places of an aggregate: those of the attribute; an average has two more."""
    if column.aggregate is not Aggregate.AVG or attribute.type not in _MOST_PLACES:
        return attribute.precision
    if attribute.precision is None and attribute.type not in _EXACT:
        return None
    return min((attribute.precision or 0) + _MORE_PLACES, _MOST_PLACES[attribute.type])
