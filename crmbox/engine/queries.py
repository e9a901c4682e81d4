"""Running a query: plan, statements, rows, and the token of the next page."""

from __future__ import annotations

from typing import Any

from crmbox.engine import page_tokens as cursor
from crmbox.engine.connection import Unit
from crmbox.engine.sql.aggregate import AggregatePlan
from crmbox.engine.sql.fragment import Fragment
from crmbox.engine.sql.plan import Plan, plan_of
from crmbox.engine.sql.rows import MOST_SEARCHED, RowPlan
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page, Query
from crmclient.query.pages import check_page
from crmclient.query.shape import shape_of
from crmclient.values import QueryResult


def run(unit: Unit, query: Query, page: Page) -> QueryResult:
    """A page of a query's rows. Raises UnknownEntity, InvalidQuery."""
    check_page(query, page)
    shape, values = shape_of(query)
    plan = plan_of(query, shape, unit.snapshot)
    if isinstance(plan.steps, AggregatePlan):
        return _groups(unit, plan, plan.steps, query, values, page)
    return _rows(unit, plan, plan.steps, query, values, page)


def _rows(
    unit: Unit, plan: Plan, steps: RowPlan, query: Query, values: list[object], page: Page
) -> QueryResult:
    steps = _narrowest(unit, steps, values)
    position = None if page.token is None else cursor.unseal(page.token, plan.digest)
    if position is not None and not steps.fits(position):
        raise InvalidQuery("The page token belongs to another query.")
    # One row more than a page tells whether another page follows.
    limit = query.top if query.top is not None else None if page.size is None else page.size + 1
    rows: list[Any] = []
    for statement in steps.statements(position, limited=limit is not None):
        wanted = None if limit is None else limit - len(rows)
        if wanted == 0:
            break
        rows += _run(unit, statement, [*values, wanted, *(position or ())])
    token = None
    if page.size is not None and len(rows) > page.size:
        del rows[page.size :]
        token = cursor.seal(plan.digest, steps.position(rows[-1]))
    total = None
    if page.total:
        total = int(_run(unit, steps.count, values)[0][0])
        total = total if query.top is None else min(total, query.top)
    return QueryResult(steps.records(rows), token, total)


def _narrowest(unit: Unit, steps: RowPlan, values: list[object]) -> RowPlan:
    """The plan that looks at the records of a search, where it finds few."""
    for narrowed in steps.narrowed:
        parameters = narrowed.counted.parameters(values)
        if None not in parameters and unit.rows(narrowed.counted.text, parameters)[0][0] <= MOST_SEARCHED:
            return narrowed.plan
    return steps


def _groups(
    unit: Unit, plan: Plan, steps: AggregatePlan, query: Query, values: list[object], page: Page
) -> QueryResult:
    groups = steps.sorted(_run(unit, steps.statement, values))[: query.top]
    start = 0 if page.token is None else _after(groups, steps, cursor.unseal(page.token, plan.digest))
    end = len(groups) if page.size is None else min(len(groups), start + page.size)
    rows = groups[start:end]
    token = cursor.seal(plan.digest, [end, steps.key(rows[-1])]) if end < len(groups) and rows else None
    return QueryResult(steps.records(rows), token, len(groups) if page.total else None)


def _after(groups: list[Any], steps: AggregatePlan, position: list[Any]) -> int:
    """After the group that the last page ended with; where it was, if it is gone."""
    end, last = position
    for at, row in enumerate(groups):
        if steps.key(row) == last:
            return at + 1
    return min(int(end), len(groups))


def _run(unit: Unit, statement: Fragment, values: list[Any]) -> list[Any]:
    return unit.rows(statement.text, statement.parameters(values))
