"""Prepares a designed query: names and literals are checked against metadata, and problems reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from crmclient.query.ast import Filter, FilterItem, Link, LinkType, Query
from crmclient.query.calendar import Calendar
from crmclient.query.designed import (
    ClaimValue,
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
from crmclient.query.resolving.prepared_columns import prepared_columns
from crmclient.query.resolving.prepared_queries import Needs, PreparedFilter, PreparedLink, PreparedQuery
from crmclient.query.resolving.rows import check_rows
from crmclient.query.resolving.size import check_depth, check_size
from crmclient.query.shape import DEEPEST_DESIGNED

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
    columns = prepared_columns(query, None, names, calendar)
    writer = Writer(names, calendar, None)
    filter = _filter(query.filter, writer)
    links = tuple(_link(link, writer) for link in query.links)
    check_rows(query, names)
    check_size(query, columns, filter, links, names)
    check_depth(names, deepest, query.filter, *query.links)
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
    check_depth(names, DEEPEST_DESIGNED, filter)
    # For the type checker: `_filter` returns None only without a filter.
    if names.problems or prepared is None:
        raise QueryProblems(names.problems)
    return prepared


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
    columns = prepared_columns(link, link.alias, names, outside.calendar)
    writer = replace(outside, holder=link.alias, denied=outside.denied or link.type in _DENYING)
    bare_link = Link(
        entity=link.entity,
        from_attribute=link.from_attribute,
        to_attribute=link.to_attribute,
        alias=link.alias,
        type=link.type,
        columns=columns,
    )
    return PreparedLink(
        bare_link,
        _filter(link.filter, writer),
        tuple(_link(nested, writer) for nested in link.links),
    )


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
        yield from names.parents_of(names.root)


def _needs(conditions: list[DesignedCondition]) -> Needs:
    """Return what the values of the conditions need, by kind."""
    values: list[DesignedValue] = [value for condition in conditions for value in condition.values]
    return Needs(
        parameters=frozenset(value.name for value in values if isinstance(value, Parameter)),
        user_values=frozenset(value.name for value in values if isinstance(value, UserValue)),
        claims=frozenset(value.path for value in values if isinstance(value, ClaimValue)),
        fetched=frozenset((value.fetcher, value.key) for value in values if isinstance(value, FetchValue)),
        record=frozenset(value.attribute for value in values if isinstance(value, RecordValue)),
        user=any(isinstance(condition.operator, UserOperator) for condition in conditions),
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
