"""Running a query: plan, statements, rows, and the token of the next page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crmbox.engine import page_tokens
from crmbox.engine.connection import Unit
from crmbox.engine.single_statements import SingleRead
from crmbox.engine.sql.aggregate import AggregatePlan
from crmbox.engine.sql.fragment import Fragment
from crmbox.engine.sql.plan import Plan, plan_of
from crmbox.engine.sql.rows import MOST_SEARCHED, RowPlan
from crmclient.errors import InvalidQuery, PlatformError
from crmclient.query.ast import Page, Query
from crmclient.query.pages import check_page
from crmclient.query.shape import shape_of
from crmclient.values import QueryResult


def run(unit: Unit, query: Query, page: Page) -> QueryResult:
    """Return a page of a query's rows. Raises UnknownEntity and InvalidQuery."""
    check_page(query, page)
    # The plan is made and kept for the query without its values, which become parameters.
    shape, values = shape_of(query)
    plan = plan_of(query, shape, unit.snapshot)
    if page.number > 1 and page.token is None:
        return _page_by_number(unit, query, page)
    if isinstance(plan.steps, AggregatePlan):
        return _groups(unit, plan, plan.steps, query, values, page)
    return _rows(unit, plan, plan.steps, query, values, page)


def _page_by_number(unit: Unit, query: Query, page: Page) -> QueryResult:
    """Return a page by its number, after reading all the pages before it."""
    # `check_page` has refused a number without a size.
    rows_before = run(unit, query, Page((page.size or 0) * (page.number - 1)))
    if rows_before.next is None:
        # The pages before hold all rows, so that this page is empty.
        return QueryResult([], None, len(rows_before.rows) if page.total else None)
    return run(unit, query, replace(page, token=rows_before.next))


def run_at_once(unit: SingleRead, query: Query, page: Page) -> QueryResult | None:
    """Do as `run` by one statement. Return None where `run` has to do it, or to say why it is impossible.

    `run` needs several statements for a page by its number, for groups, for a search by text index, and to
    go on in an order by a column that may be empty.
    """
    try:
        check_page(query, page)
        shape, values = shape_of(query)
        plan = plan_of(query, shape, unit.snapshot)
        row_plan = plan.steps
        position = None if page.token is None else page_tokens.unseal(page.token, plan.digest)
    except PlatformError:
        return None
    if page.number > 1 and page.token is None:
        return None
    if isinstance(row_plan, AggregatePlan) or (position is not None and not row_plan.fits(position)):
        return None
    limit = _limit(query, page)
    statement = row_plan.at_once(position, limited=limit is not None, total=page.total)
    if statement is None:
        return None
    # The slots of the statement count these values in this order (see RowPlan).
    rows = unit.rows_if_known(
        statement.text, statement.parameters([*values, limit, *(position or ()), unit.token])
    )
    if not rows:
        # Perhaps nothing matches, perhaps the metadata has changed: `run` finds out which.
        return None
    total = int(rows[0][-1]) if page.total else None
    return _page_of(plan, row_plan, query, page, rows, total)


def _rows(
    unit: Unit, plan: Plan, row_plan: RowPlan, query: Query, values: list[object], page: Page
) -> QueryResult:
    """Run the statements of a plan for one page, until the page is full."""
    row_plan, values = _narrowed(unit, row_plan, values)
    position = None if page.token is None else page_tokens.unseal(page.token, plan.digest)
    if position is not None and not row_plan.fits(position):
        raise InvalidQuery("The page token belongs to another query.")
    limit = _limit(query, page)
    rows: list[Any] = []
    # Several statements give the rows one after the other. Each needs only what the page still lacks.
    for statement in row_plan.statements(position, limited=limit is not None):
        remaining = None if limit is None else limit - len(rows)
        if remaining == 0:
            break
        rows += _run(unit, statement, [*values, remaining, *(position or ())])
    total = int(_run(unit, row_plan.count, values)[0][0]) if page.total else None
    return _page_of(plan, row_plan, query, page, rows, total)


def _limit(query: Query, page: Page) -> int | None:
    """Return the number of rows to read; None for all.

    That is one more than a page, to know whether another page follows. A query with `top` has no pages.
    """
    if query.top is not None:
        return query.top
    return None if page.size is None else page.size + 1


def _page_of(
    plan: Plan, row_plan: RowPlan, query: Query, page: Page, rows: list[Any], total: int | None
) -> QueryResult:
    """Return the result of one page, with the token of the next if there are more rows."""
    token = None
    # The limit asks for one row more than the page has, to know whether there is a next page.
    if page.size is not None and len(rows) > page.size:
        del rows[page.size :]
        token = page_tokens.seal(plan.digest, row_plan.position(rows[-1]))
    if total is not None and query.top is not None:
        total = min(total, query.top)
    return QueryResult(row_plan.records(rows), token, total)


def _narrowed(unit: Unit, row_plan: RowPlan, values: list[object]) -> tuple[RowPlan, list[object]]:
    """Return the plan to use, and its values: the plan that reads only what a search finds, if a search finds
    few records; else `row_plan`.

    A search with a value that cannot be searched for (None) is skipped.
    """
    for narrowed in row_plan.narrowed:
        parameters = narrowed.search.parameters(values)
        if None not in parameters:
            ids = [id for (id,) in unit.rows(narrowed.search.text, parameters)]
            if len(ids) <= MOST_SEARCHED:
                return narrowed.plan, [*values, ids]
    return row_plan, values


def _groups(
    unit: Unit, plan: Plan, aggregate_plan: AggregatePlan, query: Query, values: list[object], page: Page
) -> QueryResult:
    """Return one page of the groups of an aggregate query, which are all read and sorted here."""
    groups = aggregate_plan.sorted(_run(unit, aggregate_plan.statement, values))[: query.top]
    # A token holds the number of groups up to the end of its page, and the key of the last of them.
    start = (
        0
        if page.token is None
        else _start_after(groups, aggregate_plan, page_tokens.unseal(page.token, plan.digest))
    )
    end = len(groups) if page.size is None else min(len(groups), start + page.size)
    rows = groups[start:end]
    token = (
        page_tokens.seal(plan.digest, [end, aggregate_plan.key(rows[-1])])
        if end < len(groups) and rows
        else None
    )
    return QueryResult(aggregate_plan.records(rows), token, len(groups) if page.total else None)


def _start_after(groups: list[Any], aggregate_plan: AggregatePlan, position: list[Any]) -> int:
    """Return the index of the first group of the next page.

    It follows the group that the last page ended with. If that group is gone, `position` says where it was.
    """
    previous_end, key_of_last_group = position
    for index, row in enumerate(groups):
        if aggregate_plan.key(row) == key_of_last_group:
            return index + 1
    return min(int(previous_end), len(groups))


def _run(unit: Unit, statement: Fragment, values: list[Any]) -> list[Any]:
    return unit.rows(statement.text, statement.parameters(values))
