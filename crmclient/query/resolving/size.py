"""The size of a designed query: how many columns, conditions and levels it has, links included."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.query.ast import Column
from crmclient.query.bounds import MOST_COLUMNS, MOST_CONDITIONS, MOST_KEYS
from crmclient.query.designed import DesignedFilter, DesignedItem, DesignedLink, DesignedQuery
from crmclient.query.resolving.names import Attributes, Names
from crmclient.query.resolving.prepared_queries import PreparedFilter, PreparedLink
from crmclient.sentences import Sentence


def check_size(
    query: DesignedQuery,
    columns: tuple[Column, ...],
    filter: PreparedFilter | None,
    links: tuple[PreparedLink, ...],
    names: Names,
) -> None:
    """Note a problem for a query with too many columns, or too many conditions, its links included."""
    width = len(columns) + sum(len(link.link.columns) for link in _with_nested_links(links))
    # Distinct rows are sorted by all their columns: see MOST_KEYS.
    widest = MOST_KEYS if query.distinct and not query.is_aggregate else MOST_COLUMNS
    if width > widest:
        names.add_problem(
            f"entity {query.entity}",
            Sentence("it selects %(count)s columns; at most %(most)s are allowed", count=width, most=widest),
        )
    count, most = _sort_columns(query, names)
    if count > most:
        names.add_problem(
            f"entity {query.entity}",
            Sentence(
                "it is sorted by %(count)s columns; at most %(most)s are allowed", count=count, most=most
            ),
        )
    conditions = sum(part.conditions for part in (filter, *links) if part is not None)
    if conditions > MOST_CONDITIONS:
        names.add_problem(
            f"entity {query.entity}",
            Sentence(
                "it has %(count)s conditions; at most %(most)s are allowed",
                count=conditions,
                most=MOST_CONDITIONS,
            ),
        )


def check_depth(names: Names, deepest: int, *items: DesignedItem | None) -> None:
    """Note a problem if any of `items` is nested more than `deepest` deep. None stands for no filter."""
    if any(_depth(item) > deepest for item in items if item is not None):
        names.add_problem(
            f"entity {names.root}",
            Sentence("its filters and links are nested more than %(most)s deep", most=deepest),
        )


def sort_columns(query: DesignedQuery, attributes: Attributes) -> tuple[int, int]:
    """Return by how many columns a query is sorted, and by how many it can be.

    `attributes` is that of `prepare`. Names that do not exist count as any others.
    """
    return _sort_columns(query, Names.of(query, attributes))


def _sort_columns(query: DesignedQuery, names: Names) -> tuple[int, int]:
    """Return as `sort_columns` does."""
    sorted_by = {(order.link, order.attribute, order.alias) for order in query.orders}
    if query.distinct or query.is_aggregate:
        # Such rows are sorted by what they select, which is bounded as such: no number is too many here.
        return len(sorted_by), max(MOST_KEYS, len(sorted_by))
    # The platform sorts by these, too, so that no two rows are equal: the id of the entity, and that of each
    # link by which a row may come several times.
    sources = [(None, ""), *((link.alias, link.from_attribute) for link in query.every_link)]
    ids = {
        (alias, names.primary_id(alias), None)
        for alias, joined_by in sources
        if names.joins(alias) and names.primary_id(alias) != joined_by
    }
    return len(sorted_by), MOST_KEYS - len(ids - sorted_by)


def _depth(item: DesignedItem) -> int:
    """Return how deep groups and links are nested in an item of a filter, or in a link, with itself."""
    inner: tuple[DesignedItem, ...]
    match item:
        case DesignedFilter():
            inner = item.items
        case DesignedLink():
            inner = item.links if item.filter is None else (item.filter, *item.links)
        case _:
            return 0
    return 1 + max(map(_depth, inner), default=0)


def _with_nested_links(links: tuple[PreparedLink, ...]) -> Iterator[PreparedLink]:
    """Yield the links, each followed by the links in it."""
    for link in links:
        yield link
        yield from _with_nested_links(link.links)
