"""Queries: whether a platform can run them, and what callers may choose of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crmclient.conventions import Ability
from crmclient.errors import InvalidQuery
from crmclient.query.bounds import MOST_LINKS
from crmclient.query.designed import DesignedQuery
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import prepare
from crmclient.query.resolving.prepared import Needs
from designer.calendar import calendar
from designer.definitions import ColumnDefinition
from designer.endpoint_facts.column_keys import keys
from designer.kinds.queries import PaginatedQuerySettings, QuerySettings, SortedQuerySettings
from designer.queries.answered_columns import answered, sortable
from designer.readiness.registry import Found, blocking, blocking_of, warning, warning_of
from designer.readiness.rules.step_rules import rows_of_fetchers, unknown_fetchers, unknown_properties
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

QUERY = "settings.query"


@blocking_of(QuerySettings, "query-missing")
def a_query_is_designed(subject: EndpointSubject, settings: QuerySettings) -> Found:
    if settings.query is None:
        yield _("Design the query, or paste its FetchXML."), QUERY


@blocking("query-problem")
def the_platform_can_run_it(subject: EndpointSubject) -> Found:
    for query in _query(subject):
        try:
            prepare(query, subject.metadata.known_attributes, calendar())
        except QueryProblems as error:
            for problem in error.problems:
                yield (
                    _("%(construct)s: %(message)s.", construct=problem.construct, message=problem.message),
                    QUERY,
                )
        if (count := sum(1 for _ in query.every_link)) > MOST_LINKS:
            yield (
                _(
                    "It has %(count)s linked entities; at most %(most_links)s are allowed.",
                    count=count,
                    most_links=MOST_LINKS,
                ),
                QUERY,
            )


@blocking("query-columns")
def rows_have_keys_of_their_own(subject: EndpointSubject) -> Found:
    for query in _query(subject):
        attributes_by_key = answered(query, subject.metadata.attributes)
        if not attributes_by_key and not subject.columns:
            yield _("The query selects no columns: add the attributes to answer with."), QUERY
        elif not subject.columns:
            labels = subject.definition.settings.has_labels
            counted = Counter(
                key
                for name, attribute in attributes_by_key.items()
                for key in keys(ColumnDefinition(attribute=name), attribute, labels)
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
    needs = needs_of_query(subject)
    for name in sorted(needs.parameters - subject.input_names):
        yield (
            _(
                "The query uses @%(name)s, but the endpoint has no parameter of that name. "
                "Add it to the inputs.",
                name=name,
            ),
            f"{QUERY}.{name}",
        )
    if needs.record:
        yield _("The query takes @record, but there is no record in the path."), QUERY
    yield from unknown_fetchers(subject, needs, list(rows_of_fetchers(subject)), QUERY)
    yield from unknown_properties(subject, needs, QUERY)


@warning("query-anonymous")
def the_caller_is_known(subject: EndpointSubject) -> Found:
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
    for query in _query(subject):
        orders_by_key = sortable(query, subject.metadata.attributes)
        for offered in settings.orders:
            for key in offered.by:
                if key.removeprefix("-") not in orders_by_key:
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
    if settings.query is not None and settings.query.top is not None:
        yield _("A query with top has no pages: take top out, or make it a multi query."), QUERY


@blocking("query-page-alone")
def only_paginated_queries_have_pages(subject: EndpointSubject) -> Found:
    queries = [] if subject.definition.settings.has_pages else [(QUERY, query) for query in _query(subject)]
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
    for query in _query(subject):
        if query.page > 1:
            yield (
                _(
                    "The query begins at page %(page)s, so callers never get the rows before it. Take page "
                    "out to answer all rows.",
                    page=query.page,
                ),
                QUERY,
            )


@warning_of(PaginatedQuerySettings, "query-order-linked")
def pages_are_sorted_by_the_entity(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    if Ability.LINKED_PAGES in subject.metadata.conventions.abilities:
        return
    for query in _query(subject):
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
    for query in _query(subject):
        if query.is_aggregate and query.page_size is not None and settings.pages is None:
            yield _("count does not cut the groups to the first ones: write top instead."), QUERY


@warning_of(QuerySettings, "query-page-size")
def page_sizes_mean_something(subject: EndpointSubject, settings: QuerySettings) -> Found:
    for query in _query(subject):
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


def _query(subject: EndpointSubject) -> Iterator[DesignedQuery]:
    """Yield the endpoint's own query, if it has one."""
    query = subject.definition.settings.designed_query
    if query is not None:
        yield query


def needs_of_query(subject: EndpointSubject) -> Needs:
    """Return what the endpoint's own query needs; nothing where it has no query, or a wrong one."""
    for query in _query(subject):
        try:
            return prepare(query, subject.metadata.known_attributes, calendar()).needs
        except InvalidQuery:
            break
    return Needs()
