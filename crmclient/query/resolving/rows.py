"""Checks the rows of a query: the keys of columns, aggregates, what tells rows apart, orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crmclient.metadata import Attribute
from crmclient.query.ast import Order
from crmclient.query.comparable_columns import incomparable_columns
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.families import AGGREGATES, FAMILY, UNSORTABLE, Family
from crmclient.query.resolving.names import Names
from crmclient.query.selected_columns import selected_columns
from crmclient.sentences import Counted, Sentence


def check_rows(query: DesignedQuery, names: Names) -> None:
    """Add to the problems of `names` everything that keeps a platform from making or sorting the query's
    rows.
    """
    chosen = list(_chosen_columns(query, None, names))
    keys = Counter(_key(alias, column) for alias, column in chosen)
    for key, count in keys.items():
        if count > 1:
            names.add_problem(
                f"attribute {key}",
                Counted(
                    "%(number)s column has this name; give them aliases",
                    "%(number)s columns have this name; give them aliases",
                    count,
                ),
            )
    for alias, column in chosen:
        _check_column(column, names.find(alias, column.attribute), names)
    if query.distinct or query.is_aggregate:
        _check_comparable(query, names, aggregate=query.is_aggregate)
    for order in query.orders:
        _check_order(order, query, {_key(*pair): pair for pair in chosen}, names)


def _chosen_columns(
    source: DesignedQuery | DesignedLink, alias: str | None, names: Names
) -> Iterator[tuple[str | None, DesignedColumn]]:
    """Yield the columns of the query and its links, each with the alias of its link (None: the entity's)."""
    for column in _columns(source, names):
        yield alias, column
    for link in source.links:
        yield from _chosen_columns(link, link.alias, names)


def _columns(source: DesignedQuery | DesignedLink, names: Names) -> tuple[DesignedColumn, ...]:
    """Return the columns of the query's entity or of a link, those of *all columns* included."""
    return selected_columns(source, names.attributes_of(source.entity, f"entity {source.entity}"))


def _key(alias: str | None, column: DesignedColumn) -> str:
    """Return the key of a column in the result's rows. `alias` is that of its link; None: the entity's."""
    return column.alias or (column.attribute if alias is None else f"{alias}.{column.attribute}")


def _check_column(column: DesignedColumn, attribute: Attribute | None, names: Names) -> None:
    """Note a problem for an aggregate or a date grouping that the attribute's type does not have."""
    if attribute is None:
        return
    family = FAMILY[attribute.type]
    construct = f"attribute {column.attribute}"
    if column.aggregate is not None and family not in AGGREGATES[column.aggregate]:
        names.add_problem(
            construct,
            Sentence(
                "%(aggregate)s does not apply to a %(family)s",
                aggregate=column.aggregate.value,
                family=family.words,
            ),
        )
    if column.date_grouping is not None and family is not Family.TIME:
        names.add_problem(construct, Sentence("only dates have a dategrouping"))


def _check_comparable(source: DesignedQuery | DesignedLink, names: Names, *, aggregate: bool) -> None:
    """Note a problem for each column, also of the links, that neither makes groups nor tells rows apart."""
    attributes = names.attributes_of(source.entity, f"entity {source.entity}")
    for column, message in incomparable_columns(_columns(source, names), attributes, aggregate=aggregate):
        names.add_problem(f"attribute {column.attribute}", message)
    for link in source.links:
        _check_comparable(link, names, aggregate=aggregate)


def _check_order(
    order: Order,
    query: DesignedQuery,
    columns_by_key: dict[str, tuple[str | None, DesignedColumn]],
    names: Names,
) -> None:
    """Note a problem for an order that no platform can sort by.

    `columns_by_key` has the query's columns by their keys in a row, each after the alias of its link.
    """
    # An order by nothing has been found wrong where it was read.
    if order.attribute is None and order.alias is None:
        return
    if order.attribute is None:
        construct = f"order {order.alias}"
        if order.alias not in columns_by_key:
            names.add_problem(construct, Sentence("no column has this alias"))
            return
        alias, column = columns_by_key[order.alias]
        if column.aggregate is None:
            _check_sortable(names.find(alias, column.attribute), construct, names)
        return
    construct = f"order {order.attribute}"
    if not names.joins(order.link):
        names.add_problem(construct, Sentence("the link %(alias)s gives no columns", alias=repr(order.link)))
    _check_sortable(names.attribute(order.link, order.attribute, construct), construct, names)
    is_selected = any(
        (alias, column.attribute) == (order.link, order.attribute)
        for alias, column in columns_by_key.values()
    )
    if query.distinct and not query.is_aggregate and not is_selected:
        names.add_problem(construct, Sentence("a distinct query is sorted by columns that it selects only"))


def _check_sortable(attribute: Attribute | None, construct: str, names: Names) -> None:
    """Note a problem for an attribute that rows cannot be sorted by. None is an unknown attribute."""
    if attribute is not None and FAMILY[attribute.type] in UNSORTABLE:
        family = FAMILY[attribute.type].words
        names.add_problem(construct, Sentence("a %(family)s cannot be sorted by", family=family))
