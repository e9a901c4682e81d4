"""What a query answers: the keys of its rows, what each of them holds, and how rows are sorted by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from crmclient.metadata import Attribute, AttributeType, Label
from crmclient.query.ast import Aggregate, Order
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.families import FAMILY, UNSORTABLE, every_column

_COUNTS = frozenset({Aggregate.COUNT, Aggregate.COUNT_COLUMN})
# An average may fall between two values: it has so many places more, as far as platforms have any.
_MORE_PLACES = 2
_MOST_PLACES = {AttributeType.MONEY: 4, AttributeType.DECIMAL: 10, AttributeType.DOUBLE: 5}
_EXACT = frozenset({AttributeType.MONEY, AttributeType.DECIMAL})


def answered(
    query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]
) -> dict[str, Attribute]:
    """What each key of a row holds, in the order of the columns; those of unknown attributes are left out.

    `attributes` gives an entity's. A column that is counted, summed or grouped by a part of a date is
    described as what comes out of that.
    """
    found: dict[str, Attribute] = {}
    for key, column, attribute, link in _columns(query, None, attributes):
        shown = _shown(column, attribute)
        if link is not None or query.is_aggregate:
            # Of a row, only its own record's id and name are primary.
            shown = replace(shown, is_primary_id=False, is_primary_name=False)
        found[key] = shown
    return found


def calculated(query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]) -> dict[str, int]:
    """The decimal places, by their keys in a row, of what platforms calculate with places of their own:
    averages, and sums of a Double whose places are known.
    """
    found: dict[str, int] = {}
    for key, column, attribute, _ in _columns(query, None, attributes):
        is_double = attribute.type is AttributeType.DOUBLE and attribute.precision is not None
        is_average = column.aggregate is Aggregate.AVG and (is_double or attribute.type in _EXACT)
        if is_average or (column.aggregate is Aggregate.SUM and is_double):
            found[key] = _shown(column, attribute).precision or 0
    return found


def sortable(query: DesignedQuery, attributes: Callable[[str], Mapping[str, Attribute]]) -> dict[str, Order]:
    """How rows are sorted by each key that they can be sorted by, ascending."""
    by_alias = query.is_aggregate
    return {
        key: Order(alias=key) if by_alias else Order(column.attribute, link=link)
        for key, column, attribute, link in _columns(query, None, attributes)
        if FAMILY[_shown(column, attribute).type] not in UNSORTABLE
    }


def _columns(
    source: DesignedQuery | DesignedLink,
    link: str | None,
    attributes: Callable[[str], Mapping[str, Attribute]],
) -> Iterator[tuple[str, DesignedColumn, Attribute, str | None]]:
    """Key, column, attribute, and the alias of the link that it belongs to."""
    known = attributes(source.entity)
    prefix = "" if link is None else f"{link}."
    for column in source.columns:
        attribute = _attribute(column.attribute, known)
        if attribute is not None:
            yield column.alias or f"{prefix}{column.attribute}", column, attribute, link
    if source.all_columns:
        named = {column.attribute for column in source.columns if column.alias is None}
        for name in every_column(known):
            if name not in named:
                yield f"{prefix}{name}", DesignedColumn(name), known[name], link
    for nested in source.links:
        if nested.type.joins:
            yield from _columns(nested, nested.alias, attributes)


def _attribute(name: str, known: Mapping[str, Attribute]) -> Attribute | None:
    """An attribute; in queries the name of a lookup's target is one too: the lookup's name and `name`."""
    found = known.get(name)
    if found is None and name.endswith("name"):
        lookup = known.get(name.removesuffix("name"))
        if lookup is not None and lookup.type.is_reference:
            return Attribute(name, AttributeType.STRING, label=lookup.label)
    return found


def _shown(column: DesignedColumn, attribute: Attribute) -> Attribute:
    if column.aggregate in _COUNTS:
        return Attribute(attribute.logical_name, AttributeType.INTEGER, label=Label({1033: "Count"}))
    if column.date_grouping is not None:
        return Attribute(attribute.logical_name, AttributeType.INTEGER, label=attribute.label)
    if column.aggregate is not None:
        # A sum may pass what one record can hold.
        return replace(attribute, minimum=None, maximum=None, precision=_places(column, attribute))
    return attribute


def _places(column: DesignedColumn, attribute: Attribute) -> int | None:
    """The decimal places of an aggregate: those of the attribute, and an average's two more."""
    if column.aggregate is not Aggregate.AVG or attribute.type not in _MOST_PLACES:
        return attribute.precision
    if attribute.precision is None and attribute.type not in _EXACT:
        return None
    return min((attribute.precision or 0) + _MORE_PLACES, _MOST_PLACES[attribute.type])
