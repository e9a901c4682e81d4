"""Prepares a designed query: names and literals are checked against metadata, and problems reported."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from crmclient.metadata import AttributeType, DateTimeBehavior
from crmclient.query.ast import Column, DateGrouping, Filter, FilterItem, Link, LinkType, Query
from crmclient.query.bounds import MOST_COLUMNS, MOST_CONDITIONS, MOST_KEYS
from crmclient.query.calendar import Calendar
from crmclient.query.designed import (
    ClaimValue,
    DesignedColumn,
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    DesignedQuery,
    DesignedValue,
    FetchValue,
    Parameter,
    RecordValue,
    UserOperator,
    UserValue,
)
from crmclient.query.families import OF_RECORDS_HIERARCHY, are_comparable, why_not_comparable
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving.circumstances import Circumstances, Unknown
from crmclient.query.resolving.conditions import Resolve, Writer
from crmclient.query.resolving.names import Attributes, Names
from crmclient.query.resolving.prepared import Needs, PreparedFilter, PreparedLink, PreparedQuery
from crmclient.query.resolving.rows import check_rows
from crmclient.query.selected_columns import selected_columns
from crmclient.query.shape import DEEPEST_DESIGNED
from crmclient.sentences import Sentence

UTC: Final = Calendar()
_DENYING: Final = frozenset({LinkType.NOT_ANY, LinkType.ALL})
"""Links that keep a row where something does not hold for any other."""


def prepare(
    query: DesignedQuery,
    attributes: Attributes,
    calendar: Calendar = UTC,
    *,
    deepest: int = DEEPEST_DESIGNED,
) -> PreparedQuery:
    """Check a query against the metadata, and prepare it for `resolve`.

    `deepest` is how deep its filters and links may be nested. Raises QueryProblems with every name that does
    not exist and every literal that does not fit.
    """
    names = Names.of(query, attributes)
    columns = _columns(query, None, names, calendar)
    writer = Writer(names, calendar, None)
    filter = _filter(query.filter, writer)
    links = tuple(_link(link, writer) for link in query.links)
    check_rows(query, names)
    _check_size(query, columns, filter, links, names)
    _check_depth(names, deepest, query.filter, *query.links)
    if names.problems:
        raise QueryProblems(names.problems)
    # Filter and links are resolved for each request.
    bare_query = Query(query.entity, columns, orders=query.orders, distinct=query.distinct, top=query.top)
    needs = Needs() if filter is None else filter.needs
    for link in links:
        needs |= link.needs
    return PreparedQuery(bare_query, filter, links, needs)


def prepare_filter(
    filter: DesignedFilter, entity: str, attributes: Attributes, calendar: Calendar = UTC
) -> PreparedFilter:
    """Check a filter on one entity, and prepare it for `resolve`. Raises QueryProblems."""
    names = Names.of_filter(filter, entity, attributes)
    prepared = _filter(filter, Writer(names, calendar, None))
    _check_depth(names, DEEPEST_DESIGNED, filter)
    # For the type checker: `_filter` returns None only without a filter.
    if names.problems or prepared is None:
        raise QueryProblems(names.problems)
    return prepared


def _check_size(
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


def _check_depth(names: Names, deepest: int, *items: DesignedItem | None) -> None:
    """Note a problem if any of `items` is nested more than `deepest` deep. None stands for no filter."""
    if any(_depth(item) > deepest for item in items if item is not None):
        names.add_problem(
            f"entity {names.root}",
            Sentence("its filters and links are nested more than %(most)s deep", most=deepest),
        )


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


def _link(link: DesignedLink, outside: Writer) -> PreparedLink:
    """Prepare a link. `outside` is the writer of the conditions of the entity or link that has it."""
    names, parent = outside.names, outside.holder
    # What has no name has been found wrong where it was read.
    own_attribute = parent_attribute = None
    if link.from_attribute:
        own_attribute = names.attribute(link.alias, link.from_attribute, f"link-entity {link.alias} from")
    if link.to_attribute:
        parent_attribute = names.attribute(parent, link.to_attribute, f"link-entity {link.alias} to")
    if (
        own_attribute is not None
        and parent_attribute is not None
        and not are_comparable(own_attribute, parent_attribute)
    ):
        names.add_problem(f"link-entity {link.alias}", why_not_comparable(own_attribute, parent_attribute))
    columns = _columns(link, link.alias, names, outside.calendar)
    writer = replace(outside, holder=link.alias, denied=outside.denied or link.type in _DENYING)
    bare_link = Link(link.entity, link.from_attribute, link.to_attribute, link.alias, link.type, columns)
    return PreparedLink(
        bare_link,
        _filter(link.filter, writer),
        tuple(_link(nested, writer) for nested in link.links),
    )


def _columns(
    source: DesignedQuery | DesignedLink, alias: str | None, names: Names, calendar: Calendar
) -> tuple[Column, ...]:
    """Return the columns of the entity, or of the link `alias`. Mistakes are noted in `names`."""
    named = tuple(_column(column, alias, names, calendar) for column in source.columns)
    # `selected_columns` returns the named ones first. What follows comes from the metadata, and is right.
    others = selected_columns(source, names.attributes_of(source.entity, f"entity {source.entity}"))[
        len(named) :
    ]
    return named + tuple(Column(column.attribute) for column in others)


def _column(column: DesignedColumn, alias: str | None, names: Names, calendar: Calendar) -> Column:
    """Check a column against the metadata, and return it as platforms read it. Mistakes are noted
    in `names`.
    """
    construct = f"attribute {column.attribute}"
    attribute = names.attribute(alias, column.attribute, construct) if column.attribute else None
    if not names.joins(alias):
        names.add_problem(construct, Sentence("the link %(alias)s gives no columns", alias=repr(alias)))
    depends_on_zone = attribute is not None and (
        attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.USER_LOCAL
    )
    if (
        column.date_grouping is not None
        and column.user_time_zone
        and depends_on_zone
        and not _is_utc(calendar)
    ):
        names.add_problem(construct, Sentence('dates can be grouped in UTC only: add usertimezone="false"'))
    if column.date_grouping is DateGrouping.FISCAL_YEAR:
        try:
            # Any year does: where it is not known how fiscal years are named, none has a name.
            calendar.fiscal.named_year(dt.MINYEAR)
        except ValueError as error:
            names.add_problem(construct, error.args[0])
    return Column(
        column.attribute,
        column.alias,
        column.aggregate,
        column.group_by,
        column.date_grouping,
        column.distinct,
    )


def _is_utc(calendar: Calendar) -> bool:
    return calendar.zone is dt.UTC or str(calendar.zone) in {"UTC", "Etc/UTC"}


def _filter(group: DesignedFilter | None, writer: Writer) -> PreparedFilter | None:
    """Prepare a filter with the links in it; None without one."""
    if group is None:
        return None
    conditions, links = [], []
    for item in _leaves(group):
        if isinstance(item, DesignedCondition):
            conditions.append(item)
        else:
            links.append(_link(item, writer))
    needs = _needs(conditions)
    for link in links:
        needs |= link.needs
    attributes = {name for condition in conditions for name in _attributes_read(condition, writer.names)}
    return PreparedFilter(
        _group(group, writer, iter(links)),
        needs,
        frozenset(attributes | {link.link.to_attribute for link in links}),
        len(conditions) + sum(link.conditions for link in links),
    )


def _attributes_read(condition: DesignedCondition, names: Names) -> Iterator[str]:
    """Yield the attributes of the record that a condition depends on."""
    yield condition.attribute
    if condition.value_of is not None:
        _, compared_attribute = condition.value_of
        yield compared_attribute
    if condition.operator in OF_RECORDS_HIERARCHY and condition.link is None:
        # A record moves within a hierarchy when its parent changes.
        parent = names.parent_of(names.root)
        if parent is not None:
            yield parent


def _needs(conditions: list[DesignedCondition]) -> Needs:
    """Return what the values of the conditions need, by kind."""
    values: list[DesignedValue] = [value for condition in conditions for value in condition.values]
    return Needs(
        frozenset(value.name for value in values if isinstance(value, Parameter)),
        frozenset(value.name for value in values if isinstance(value, UserValue)),
        frozenset(value.path for value in values if isinstance(value, ClaimValue)),
        frozenset((value.fetcher, value.key) for value in values if isinstance(value, FetchValue)),
        frozenset(value.attribute for value in values if isinstance(value, RecordValue)),
        any(isinstance(condition.operator, UserOperator) for condition in conditions),
    )


def _leaves(group: DesignedFilter) -> Iterator[DesignedCondition | DesignedLink]:
    """Yield the conditions and links in a group and in the groups in it, as written."""
    for item in group.items:
        if isinstance(item, DesignedFilter):
            yield from _leaves(item)
        else:
            yield item


def _group(group: DesignedFilter, writer: Writer, links: Iterator[PreparedLink]) -> Resolve:
    """Prepare a group. `links` yields its prepared links in the order of `_leaves`."""
    prepared = [_item(item, writer, links) for item in group.items]
    items = [item for item in prepared if item is not None]

    def resolve(circumstances: Circumstances) -> FilterItem | None:
        """Return the group without the conditions that are left out; None when nothing is left of it."""
        resolved_items = (item(circumstances) for item in items)
        kept_items = tuple(item for item in resolved_items if item is not None)
        return Filter(kept_items, group.any) if kept_items else None

    return resolve


def _item(item: DesignedItem, writer: Writer, links: Iterator[PreparedLink]) -> Resolve | None:
    """Prepare an item of a group; None for a wrong condition. The next of `links` is that of a link."""
    match item:
        case DesignedCondition():
            return writer.prepare(item)
        case DesignedLink():
            return _link_resolver(next(links), writer)
    return _group(item, writer, links)


def _link_resolver(link: PreparedLink, writer: Writer) -> Resolve:
    """Return the function that resolves a link in a filter.

    A link that denies something would keep rows because a value is unknown. Such a link keeps no row instead.
    """
    if writer.denied or link.link.type not in _DENYING:
        return link.resolve

    nothing = writer.nothing

    def resolve(circumstances: Circumstances) -> FilterItem:
        """Return the link; a condition that never holds if a value in it is unknown."""
        try:
            return link.resolve(circumstances)
        except Unknown:
            return nothing

    return resolve
