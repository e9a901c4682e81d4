"""Queries: whether a platform can run them, and what callers may choose of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from crmclient.conventions import Ability
from crmclient.errors import InvalidQuery
from crmclient.query.ast import LinkType
from crmclient.query.bounds import MOST_CONDITIONS, MOST_LINKS
from crmclient.query.designed import DesignedCondition, DesignedFilter, DesignedLink, DesignedQuery
from crmclient.query.pages import MOST_PASSED_OVER
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import prepare, sort_columns
from crmclient.query.resolving.prepared_queries import Needs
from designer.calendar import calendar
from designer.definitions import ColumnDefinition
from designer.definitions.row_rules import roles_of
from designer.endpoint_facts.column_keys import keys_in_answer
from designer.expressions.nearest import did_you_mean
from designer.kinds.queries import PaginatedQuerySettings, QuerySettings, SortedQuerySettings
from designer.names import RESERVED_PARAMETERS
from designer.queries.answered_columns import answered_attributes, sortable, unknown_keys
from designer.readiness.registry import Found, blocking, blocking_of, warning, warning_of
from designer.readiness.rules.step_rules import rows_of_fetchers, unknown_fetchers, unknown_properties
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

QUERY = "settings.query"


@blocking_of(QuerySettings, "query-missing")
def a_query_is_designed(subject: EndpointSubject, settings: QuerySettings) -> Found:
    """Find that there is no query yet."""
    if settings.query is None:
        yield _("Design the query, or paste its FetchXML."), QUERY


@blocking("query-problem")
def the_platform_can_run_it(subject: EndpointSubject) -> Found:
    """Find each problem of the query."""
    for query in _own_query(subject):
        try:
            prepare(query, subject.metadata.known_attributes, calendar())
        except QueryProblems as error:
            for problem in error.problems:
                yield (
                    _("%(construct)s: %(message)s.", construct=problem.construct, message=problem.message),
                    QUERY,
                )


@blocking("query-size", row_rules=True)
def it_stays_in_bounds_with_row_rules(subject: EndpointSubject) -> Found:
    """Find too many links and conditions in what the platform gets: the query, and the row rules that apply
    to a caller with one role. Callers with more roles have more row rules; there may be no such callers.
    """
    for query in _own_query(subject):
        more_links, more_conditions = _added_by_row_rules(subject, query)
        if (count := _links_that_run(subject, query) + more_links) > MOST_LINKS:
            yield (
                _(
                    "It has %(count)s linked entities; at most %(most_links)s are allowed.",
                    count=count,
                    most_links=MOST_LINKS,
                ),
                QUERY,
            )
        # Too many in the query alone are a problem of its own, which `query-problem` finds.
        own_conditions = _conditions_of(query.filter, query.links)
        if own_conditions <= MOST_CONDITIONS < (count := own_conditions + more_conditions):
            yield (
                _(
                    "With the row rules that apply, it has %(count)s conditions; at most %(most)s are "
                    "allowed.",
                    count=count,
                    most=MOST_CONDITIONS,
                ),
                QUERY,
            )


@blocking("query-columns")
def rows_have_keys_of_their_own(subject: EndpointSubject) -> Found:
    """Find queries that answer nothing, or several columns under one key. Where the endpoint has columns,
    these are judged instead.
    """
    for query in _own_query(subject):
        attributes_by_key = answered_attributes(query, subject.metadata.attributes)
        sources: tuple[DesignedQuery | DesignedLink, ...] = (query, *query.every_link)
        selects = any(source.columns or source.all_columns for source in sources)
        if not selects and not subject.columns:
            yield _("The query selects no columns: add the attributes to answer with."), QUERY
        elif not subject.columns:
            labels = subject.definition.settings.has_labels
            counted = Counter(
                key
                for name, attribute in attributes_by_key.items()
                for key in keys_in_answer(ColumnDefinition(attribute=name), attribute, labels)
            )
            for key, count in counted.items():
                if count > 1:
                    yield (
                        _(
                            "%(count)s columns become “%(key)s” in the answer. Give them different names.",
                            count=count,
                            key=key,
                        ),
                        "columns",
                    )


@blocking("query-values")
def values_are_known(subject: EndpointSubject) -> Found:
    """Find names in the conditions of the query that nothing gives a value: parameters, fetchers, user
    properties.
    """
    needs = needs_of_query(subject)
    for name in sorted(needs.parameters - subject.input_names):
        if name.lower() in RESERVED_PARAMETERS:
            yield _("@%(name)s is a parameter that every query has. Use another name.", name=name), QUERY
            continue
        yield (
            _(
                "The query uses @%(name)s, but the endpoint has no parameter of that name. "
                "Add it to the inputs.%(hint)s",
                name=name,
                hint=did_you_mean(name, subject.input_names),
            ),
            f"{QUERY}.{name}",
        )
    if needs.record:
        yield _("The query takes @record, but there is no record in the path."), QUERY
    yield from unknown_fetchers(needs, dict(rows_of_fetchers(subject)), QUERY)
    yield from unknown_properties(subject, needs, QUERY)


@warning("query-anonymous")
def the_caller_is_known(subject: EndpointSubject) -> Found:
    """Find conditions on the caller where callers need no token."""
    needs = needs_of_query(subject)
    if needs.of_caller and not subject.definition.access.authentication_required:
        yield (
            _(
                "The query compares with the caller, but anyone may call: for a caller "
                "without a token, it finds nothing."
            ),
            QUERY,
        )


@blocking_of(SortedQuerySettings, "query-order")
def offered_orders_exist(subject: EndpointSubject, settings: SortedQuerySettings) -> Found:
    """Find orders of the same name, and orders by what is no sortable column. "-" before a key means
    descending.
    """
    for name, count in Counter(offered.name for offered in settings.orders).items():
        if count > 1:
            yield (
                _(
                    "%(count)s orders are called “%(name)s”. Give them different names.",
                    count=count,
                    name=name,
                ),
                "settings.orders",
            )
    for query in _own_query(subject):
        orders_by_key = sortable(query, subject.metadata.attributes)
        # `query-problem` says what is wrong with these, and with an unknown entity.
        unknown = unknown_keys(query, subject.metadata.attributes)
        is_known = bool(subject.metadata.attributes(query.entity))
        for offered in settings.orders:
            chosen = [orders_by_key.get(key.removeprefix("-")) for key in offered.by]
            sorted_query = replace(query, orders=tuple(order for order in chosen if order is not None))
            count, most = sort_columns(sorted_query, subject.metadata.known_attributes)
            if count > most:
                yield (
                    _(
                        "The order “%(name)s” sorts by %(count)s columns; at most %(most)s are allowed.",
                        name=offered.name,
                        count=count,
                        most=most,
                    ),
                    "settings.orders",
                )
            for key in offered.by:
                if is_known and key.removeprefix("-") not in orders_by_key.keys() | unknown:
                    yield (
                        _(
                            "The order “%(name)s” sorts by “%(key)s”, which is no column of the "
                            "query, or none that can be sorted by.",
                            name=offered.name,
                            key=key.removeprefix("-"),
                        ),
                        "settings.orders",
                    )


@blocking_of(PaginatedQuerySettings, "query-top-paged")
def what_is_cut_has_no_pages(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find a query by page that `top` limits to its first rows."""
    if settings.query is not None and settings.query.top is not None:
        yield _("A query with top has no pages: take top out, or make it a multi query."), QUERY


@blocking("query-page-alone")
def only_paginated_queries_have_pages(subject: EndpointSubject) -> Found:
    """Find a page, other than the first, in a query that has no pages."""
    queries = (
        [] if subject.definition.settings.has_pages else [(QUERY, query) for query in _own_query(subject)]
    )
    queries += [
        (f"fetchers.{fetcher.name}.query", fetcher.query)
        for fetcher in subject.definition.fetchers
        if fetcher.query is not None
    ]
    for place, query in queries:
        if query.page > 1:
            yield _("Only a paginated query has pages. Take page=%(page)s out.", page=query.page), place


@warning_of(PaginatedQuerySettings, "query-page-later")
def pages_begin_with_the_first(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find queries that begin at a later page, so that callers never get the rows before it."""
    for query in _own_query(subject):
        if query.page > 1:
            yield (
                _(
                    "The query begins at page %(page)s, so callers never get the rows before it. Take page "
                    "out to answer all rows.",
                    page=query.page,
                ),
                QUERY,
            )


@blocking_of(PaginatedQuerySettings, "query-page-beyond")
def pages_begin_within_reach(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find queries whose first page is beyond the rows that the platform can pass over."""
    for query in _own_query(subject):
        # Callers choose the size of their pages, and with it how many rows come before.
        if (query.page - 1) * settings.max_page_size >= MOST_PASSED_OVER:
            yield (
                _(
                    "With pages of %(size)s rows, page %(page)s cannot be reached: fewer than %(most)s rows "
                    "can be passed over. Take page out to answer all rows.",
                    size=settings.max_page_size,
                    page=query.page,
                    most=MOST_PASSED_OVER,
                ),
                QUERY,
            )


@warning_of(PaginatedQuerySettings, "query-order-linked")
def pages_are_sorted_by_the_entity(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find orders by the attribute of a linked entity, where the platform cannot page them."""
    if Ability.LINKED_PAGES in subject.metadata.conventions.abilities:
        return
    for query in _own_query(subject):
        if any(order.link is not None for order in query.orders):
            yield _("The platform cannot page what is sorted by a linked entity's attribute."), QUERY
        orders_by_key = sortable(query, subject.metadata.attributes)
        for offered in settings.orders:
            orders = (orders_by_key.get(key.removeprefix("-")) for key in offered.by)
            if any(order is not None and order.link is not None for order in orders):
                yield (
                    _(
                        "The platform cannot page the order “%(name)s”, by a linked entity's attribute.",
                        name=offered.name,
                    ),
                    "settings.orders",
                )


@blocking_of(QuerySettings, "query-count-groups")
def groups_are_cut_by_top(subject: EndpointSubject, settings: QuerySettings) -> Found:
    """Find a query of groups that `count` is to limit: `count` is the length of a page, and there are no
    pages.
    """
    for query in _own_query(subject):
        if query.is_aggregate and query.page_size is not None and settings.pages is None:
            yield _("count does not cut the groups to the first ones: write top instead."), QUERY


@warning_of(QuerySettings, "query-page-size")
def page_sizes_mean_something(subject: EndpointSubject, settings: QuerySettings) -> Found:
    """Find a size of pages that has no effect, or that is cut to the largest one."""
    for query in _own_query(subject):
        pages = settings.pages
        if pages is None:
            if query.page_size is not None:
                yield (
                    _(
                        "count is the length of a page, but this query has no pages. Use top "
                        "to limit the rows."
                    ),
                    QUERY,
                )
            return
        size, field = pages.usual, "settings.page_size"
        if query.page_size is not None:
            size, field = query.page_size, QUERY
        if size > pages.largest:
            yield (
                _(
                    "Pages of %(size)s rows are cut to %(max_page_size)s, the largest allowed.",
                    size=size,
                    max_page_size=pages.largest,
                ),
                field,
            )


def _links_that_run(subject: EndpointSubject, query: DesignedQuery) -> int:
    """Return how many links the platform gets.

    A link “all” to an entity with a row rule becomes two: one demands that the caller reaches a record there,
    the other that no record that the caller reaches breaks the condition.
    """
    links = list(query.every_link)
    if not subject.definition.settings.applies_linked_row_rules:
        return len(links)
    ruled = {exposure.entity for exposure in subject.endpoint.exposures if exposure.row_rule}
    return len(links) + sum(link.type is LinkType.ALL and link.entity in ruled for link in links)


def _conditions_of(filter: DesignedFilter | None, links: Iterable[DesignedLink] = ()) -> int:
    """Return how many conditions are in a filter, and in the links in it and beside it."""
    inner = [*(filter.links if filter is not None else ()), *links]
    own = 0 if filter is None else _own_conditions_of(filter)
    return own + sum(_conditions_of(link.filter, link.links) for link in inner)


def _own_conditions_of(group: DesignedFilter) -> int:
    """Return how many conditions are in a filter and in its groups, without those in links."""
    return sum(
        _own_conditions_of(item) if isinstance(item, DesignedFilter) else isinstance(item, DesignedCondition)
        for item in group.items
    )


def _added_by_row_rules(subject: EndpointSubject, query: DesignedQuery) -> tuple[int, int]:
    """Return how many links, and how many conditions, row rules add to the query at most for a caller with
    one role.
    """
    callers: list[tuple[str, ...]] = [(role,) for role in subject.definition.access.roles]
    if not callers:
        # Any caller is admitted. Only roles that row rules name make a difference.
        rules = (exposure.row_rule for exposure in subject.endpoint.exposures)
        callers = [(), *((role,) for role in sorted(frozenset[str]().union(*map(roles_of, rules))))]
    added = [_added_for_roles(subject, query, roles) for roles in callers]
    return max(links for links, _ in added), max(conditions for _, conditions in added)


def _added_for_roles(
    subject: EndpointSubject, query: DesignedQuery, roles: tuple[str, ...]
) -> tuple[int, int]:
    """Return how many links, and how many conditions, row rules add to the query for callers with `roles`."""
    filters: list[tuple[str, DesignedFilter]] = []
    for exposure in subject.endpoint.exposures:
        entries = [entry for entry in exposure.row_rule if entry.is_for(roles)]
        if not any(entry.all_records for entry in entries):
            own = {entry.filter for entry in entries if entry.filter is not None}
            filters += [(exposure.entity, filter) for filter in own]
    # How often a rule of the entity is in the query.
    times = Counter([query.entity])
    if subject.definition.settings.applies_linked_row_rules:
        for link in query.every_link:
            # A link “all” becomes two, and both have the rule.
            times[link.entity] += 2 if link.type is LinkType.ALL else 1
    filters_by_times = [(times[entity], filter) for entity, filter in filters]
    if subject.definition.row_rule is not None:
        filters_by_times.append((1, subject.definition.row_rule))
    return (
        sum(count * len([*filter.every_link]) for count, filter in filters_by_times),
        sum(count * _conditions_of(filter) for count, filter in filters_by_times),
    )


def _own_query(subject: EndpointSubject) -> Iterator[DesignedQuery]:
    """Yield the endpoint's own query; nothing where it has none. A loop over it runs once or never."""
    query = subject.definition.settings.designed_query
    if query is not None:
        yield query


def needs_of_query(subject: EndpointSubject) -> Needs:
    """Return what the endpoint's own query needs; nothing where it has no query, or a wrong one."""
    for query in _own_query(subject):
        try:
            return prepare(query, subject.metadata.known_attributes, calendar()).needs
        except InvalidQuery:
            break
    return Needs()
