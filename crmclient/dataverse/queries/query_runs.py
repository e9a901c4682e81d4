"""Running a query: page after page of FetchXML, until the caller's page is full."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import FORMATTED, LOOKUP_NAME, Api, rows_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.queries.pages import Position, position_after, seal, unseal
from crmclient.dataverse.queries.plan import Plan, plan_of
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.parties import Parties
from crmclient.errors import InvalidQuery
from crmclient.platform import Call
from crmclient.query.ast import Aggregate, Column, Link, Page, Query
from crmclient.query.fetchxml.plain_queries import write_plain
from crmclient.query.pages import check_page
from crmclient.query.shape import digest, shape_of
from crmclient.values import QueryResult

LARGEST_PAGE: Final = 5000

_CRM: Final = "Microsoft.Dynamics.CRM."
_COOKIE, _MORE = f"@{_CRM}fetchxmlpagingcookie", f"@{_CRM}morerecords"
_TOTAL, _EXCEEDED = f"@{_CRM}totalrecordcount", f"@{_CRM}totalrecordcountlimitexceeded"
_ALWAYS: Final = ",".join(name.removeprefix("@") for name in (_COOKIE, _MORE, _TOTAL, _EXCEEDED))
_WITH_REFERENCES: Final = f"{FORMATTED},{LOOKUP_NAME},{_ALWAYS}"


@dataclass(frozen=True, slots=True)
class _Part:
    """One answer. `total` is None when the platform did not count to the end."""

    rows: list[dict[str, Any]]
    next: Position | None
    total: int | None


class Queries:
    """Runs queries. Raises what `Platform.query` raises."""

    def __init__(self, api: Api, catalogue: Catalogue, files: FileFacts, parties: Parties) -> None:
        self._api = api
        self._catalogue = catalogue
        self._files = files
        self._parties = parties

    def run(self, query: Query, page: Page, call: Call) -> QueryResult:
        """Return a page of a query's rows, with the token of the next page and, if asked for, the total."""
        check_page(query, page)
        shape = digest(shape_of(query)[0])
        plan = plan_of(query, self._catalogue, self._files, self._parties, call)
        start = Position(page.number) if page.token is None else unseal(page.token, shape)
        # FetchXML takes `top` or pages, not both. Above the size of a page, pages are read up to `top`.
        if query.top is not None and query.top <= LARGEST_PAGE:
            rows = self._ask(plan, plan.query, start, None, call).rows
            return QueryResult(plan.rows(rows), None, len(rows) if page.total else None)
        part = self._pages(replace(plan, query=replace(plan.query, top=None)), query.top, page, start, call)
        total = self._total(plan, part, start, call) if page.total else None
        token = None if part.next is None or query.top else seal(part.next, shape)
        return QueryResult(plan.rows(part.rows), token, total)

    def _pages(self, plan: Plan, top: int | None, page: Page, start: Position, call: Call) -> _Part:
        """Ask for one page or, when `page` has no size, for page after page until all rows are there.

        Dataverse sends at most 5,000 rows in a page. `top` limits all rows together; a page with a size is
        never asked for with it.
        """
        count = LARGEST_PAGE if page.size is None else min(page.size, LARGEST_PAGE)
        part = self._ask(plan, plan.query, start, count, call, total=page.total)
        if page.size is not None:
            return part
        rows = list(part.rows)
        while part.next is not None and (top is None or len(rows) < top):
            part = self._ask(plan, plan.query, part.next, count, call)
            rows += part.rows
        rows = rows[:top]
        return _Part(rows, None, len(rows))

    def _ask(
        self, plan: Plan, query: Query, start: Position, count: int | None, call: Call, *, total: bool = False
    ) -> _Part:
        """Send the query for the rows from `start` on, at most `count`. Return them with the next position
        and the total.
        """
        text = write_plain(query, count=count, page=start.number, cookie=start.cookie, total=total)
        answer = self._api.get(
            paths.with_query(plan.entity_set, {"fetchXml": text}),
            Subject(Kind.QUERY, query.entity),
            call,
            prefer=f'odata.include-annotations="{_WITH_REFERENCES if plan.has_references else _ALWAYS}"',
        )
        # Without a `count` no page was asked for. An annotation for yes or no may be a boolean or a text.
        has_more = count is not None and answer.get(_MORE) in (True, "true")
        counted = answer.get(_TOTAL)
        exact = type(counted) is int and counted >= 0 and answer.get(_EXCEEDED) not in (True, "true")
        return _Part(
            rows_in(answer),
            position_after(start, answer.get(_COOKIE)) if has_more else None,
            counted if exact else None,
        )

    def _total(self, plan: Plan, part: _Part, start: Position, call: Call) -> int | None:
        """Return the exact number of rows; None when the platform cannot tell.

        It is the number of rows when there is only one page, the platform's count if exact, or the result of
        a counting query.
        """
        if start.number == 1 and part.next is None:
            return len(part.rows)
        if part.total is not None:
            return part.total
        query = plan.query
        if query.is_aggregate or query.distinct:
            return None
        counting = Query(
            query.entity,
            (Column(plan.primary_id, "total", Aggregate.COUNT),),
            query.filter,
            tuple(_without_columns(link) for link in query.links),
        )
        try:
            [row] = self._ask(plan, counting, Position(), None, call).rows
        except (InvalidQuery, ValueError):
            # InvalidQuery: Dataverse refuses to aggregate, and so to count, too many rows. ValueError: the
            # answer has not exactly one row.
            return None
        counted = row.get("total")
        return counted if type(counted) is int else None


def _without_columns(link: Link) -> Link:
    """Return the same join without columns, also of the links in it."""
    return replace(link, columns=(), links=tuple(_without_columns(nested) for nested in link.links))
