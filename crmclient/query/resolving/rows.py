"""Checks the rows of a query: the keys of columns, aggregates, orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crmclient.metadata import Attribute
from crmclient.query.ast import Order
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.families import AGGREGATES, FAMILY, UNSORTABLE, Family
from crmclient.query.resolving.names import Names
from crmclient.sentences import Counted, Sentence


def check_rows(query: DesignedQuery, names: Names) -> None:
    """Add to the problems of `names` everything that keeps a platform from making or sorting the query's
    rows.
    """
    chosen = list(_chosen(query, None))
    keys = Counter(_key(alias, column) for alias, column in chosen)
    for key, count in keys.items():
        if count > 1:
            names.wrong(
                f"attribute {key}",
                Counted(
                    "%(number)s column has this name; give them aliases",
                    "%(number)s columns have this name; give them aliases",
                    count,
                ),
            )
    for alias, column in chosen:
        _check_column(column, names.find(alias, column.attribute), names)
    for order in query.orders:
        _check_order(order, query, {_key(*pair): pair for pair in chosen}, names)


def _chosen(
    source: DesignedQuery | DesignedLink, alias: str | None
) -> Iterator[tuple[str | None, DesignedColumn]]:
    """Yield the columns of the query and its links, each with the alias of its link (None: the entity's)."""
    for column in source.columns:
        yield alias, column
    for link in source.links:
        yield from _chosen(link, link.alias)


def _key(alias: str | None, column: DesignedColumn) -> str:
    return column.alias or (column.attribute if alias is None else f"{alias}.{column.attribute}")


def _check_column(column: DesignedColumn, attribute: Attribute | None, names: Names) -> None:
    """Note a problem for an aggregate or a date grouping that the attribute's type does not have."""
    if attribute is None:
        return
    family = FAMILY[attribute.type]
    construct = f"attribute {column.attribute}"
    if column.aggregate is not None and family not in AGGREGATES[column.aggregate]:
        names.wrong(
            construct,
            Sentence(
                "%(aggregate)s does not apply to a %(family)s",
                aggregate=column.aggregate.value,
                family=family.words,
            ),
        )
    if column.date_grouping is not None and family is not Family.TIME:
        names.wrong(construct, Sentence("only dates have a dategrouping"))


def _check_order(
    order: Order,
    query: DesignedQuery,
    chosen: dict[str, tuple[str | None, DesignedColumn]],
    names: Names,
) -> None:
    """Note a problem for an order that no platform can sort by. `chosen` are the columns by their keys."""
    # An order by nothing has been found wrong where it was read.
    if order.attribute is None and order.alias is None:
        return
    if order.attribute is None:
        construct = f"order {order.alias}"
        if order.alias not in chosen:
            names.wrong(construct, Sentence("no column has this alias"))
            return
        alias, column = chosen[order.alias]
        if column.aggregate is None:
            _check_sortable(names.find(alias, column.attribute), construct, names)
        return
    construct = f"order {order.attribute}"
    if not names.joins(order.link):
        names.wrong(construct, Sentence("the link %(alias)s gives no columns", alias=repr(order.link)))
    _check_sortable(names.attribute(order.link, order.attribute, construct), construct, names)
    if query.distinct and not query.is_aggregate and not _selects(query, order):
        names.wrong(construct, Sentence("a distinct query is sorted by columns that it selects only"))


def _check_sortable(attribute: Attribute | None, construct: str, names: Names) -> None:
    if attribute is not None and FAMILY[attribute.type] in UNSORTABLE:
        family = FAMILY[attribute.type].words
        names.wrong(construct, Sentence("a %(family)s cannot be sorted by", family=family))


def _selects(source: DesignedQuery | DesignedLink, order: Order, alias: str | None = None) -> bool:
    """Whether the query, or the link `alias`, or a link in it selects the attribute of the order."""
    if alias == order.link and (
        source.all_columns or any(column.attribute == order.attribute for column in source.columns)
    ):
        return True
    return any(_selects(link, order, link.alias) for link in source.links)
