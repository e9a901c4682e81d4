"""`GET accounts?sql=SELECT …`: the statement as a query, and its rows by page."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.model import EntityType, Model, property_name
from crmbox.webapi.odata.options import Options
from crmbox.webapi.odata.page_links import LARGEST_PAGE, NO_RECORD, Paging
from crmbox.webapi.odata.rows import ShownColumn, collection_response, column_of, row_content
from crmbox.webapi.rendering import context
from crmbox.webapi.request import Request, Response
from crmbox.webapi.sql.conditions import Conditions
from crmbox.webapi.sql.statement import read_select, unsupported_node, whole
from crmbox.webapi.sql.tables import NamedColumn, Tables
from crmclient.query.ast import Aggregate, Column, Filter, Order, Page, Query
from crmclient.values import QueryResult

_AGGREGATES: Final[dict[type[exp.Expr], Aggregate]] = {
    exp.Sum: Aggregate.SUM,
    exp.Avg: Aggregate.AVG,
    exp.Min: Aggregate.MIN,
    exp.Max: Aggregate.MAX,
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows that a statement selects: at most `most` (None for all), after the first `skipped`."""

    query: Query
    shown: tuple[ShownColumn, ...]
    most: int | None
    skipped: int


def read(text: str, model: Model, now: dt.datetime) -> Selection:
    """Read a statement. Raises WebApiError: 400 for a mistake, 501 for an unsupported part."""
    return _Reader(read_select(text), model, now).selection()


class _Reader:
    """Reads a SELECT as a query, and what is shown of its rows."""

    def __init__(self, select: exp.Select, model: Model, now: dt.datetime) -> None:
        self._select = select
        self._tables = Tables(model, select)
        self._now = now
        # The columns of GROUP BY; None for a statement without groups.
        self._grouped = self._groups()
        self._shown: list[ShownColumn] = []

    def selection(self) -> Selection:
        """Return what the statement selects. Raises WebApiError."""
        select = self._select
        # First, because `_column` notes in each table what is selected of it. The links take it from there.
        for node in select.expressions:
            self._column(node)
        where = select.args.get("where")
        filter = Conditions(self._tables, self._now).read(where.this) if where else None
        limit, offset = select.args.get("limit"), select.args.get("offset")
        query = Query(
            entity=self._tables.first.type.name,
            columns=tuple(self._tables.first.columns),
            filter=filter if isinstance(filter, Filter | None) else Filter((filter,)),
            links=self._tables.links(),
            orders=self._orders(),
            distinct=bool(select.args.get("distinct")),
        )
        skipped = whole(offset.expression, "OFFSET") if offset else 0
        return Selection(query, tuple(self._shown), _most_rows(limit), skipped)

    def _groups(self) -> list[NamedColumn] | None:
        """Return the columns that a statement groups by; None for a statement without groups."""
        group = self._select.args.get("group")
        if group is not None:
            if any(part for name, part in group.args.items() if name != "expressions"):
                raise unsupported_node(group)
            return [self._tables.place(node) for node in group.expressions]
        return [] if self._select.find(exp.AggFunc) else None

    def _column(self, node: exp.Expr) -> None:
        """Select and show one column of the statement. Raises WebApiError."""
        alias = node.alias if isinstance(node, exp.Alias) else ""
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star) or (
            isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)
        ):
            raise unsupported("SELECT * in sql: name the columns")
        if isinstance(inner, exp.AggFunc):
            place, column = self._aggregate(inner)
            name = alias or type(inner).__name__.lower()
        else:
            place = self._tables.place(inner)
            name = alias or property_name(place.attribute)
            column = Column(place.attribute.logical_name)
            if self._grouped is not None:
                if place not in self._grouped:
                    raise bad_url(f"'{inner.name}' stands neither in GROUP BY nor in an aggregate.")
                column = replace(column, group_by=True)
        # A query with groups has aliases for its columns. They are shown under the statement's own names.
        if self._grouped is not None:
            column = replace(column, alias=f"column{len(self._shown)}")
        if any(shown.name == name for shown in self._shown):
            raise bad_url(f"Two columns are called '{name}': give one another name with AS.")
        place.table.columns.append(column)
        self._shown.append(replace(column_of(place.table.type, column, place.table.link), name=name))

    def _aggregate(self, node: exp.Expr) -> tuple[NamedColumn, Column]:
        """Return the column that a function such as SUM or COUNT aggregates, and the aggregate of it. Raises
        WebApiError.
        """
        if not isinstance(node, exp.Count):
            aggregate = _AGGREGATES.get(type(node))
            if aggregate is None:
                raise unsupported_node(node)
            place = self._tables.place(node.this)
            return place, Column(place.attribute.logical_name, aggregate=aggregate)
        inner, distinct = node.this, isinstance(node.this, exp.Distinct)
        if isinstance(inner, exp.Star | exp.Literal):
            first = self._tables.first
            key = first.type.entity.primary_id
            return NamedColumn(first, first.type.attributes[key]), Column(key, aggregate=Aggregate.COUNT)
        if distinct:
            if len(inner.expressions) != 1:
                raise unsupported_node(node)
            [inner] = inner.expressions
        place = self._tables.place(inner)
        name = place.attribute.logical_name
        return place, Column(name, aggregate=Aggregate.COUNT_COLUMN, distinct=distinct)

    def _orders(self) -> tuple[Order, ...]:
        order = self._select.args.get("order")
        return tuple(self._order(node) for node in (order.expressions if order else ()))

    def _order(self, node: exp.Ordered) -> Order:
        """Read an order: by the name that SELECT gives a column, or by a column of a table. Raises
        WebApiError.
        """
        descending = bool(node.args.get("desc"))
        shown = self._shown_as(node.this)
        if self._grouped is not None:
            key = self._key_of(node.this) if shown is None else shown.key
            return Order(alias=key, descending=descending)
        if shown is None:
            place = self._tables.place(node.this)
            return Order(place.attribute.logical_name, link=place.table.link, descending=descending)
        # Without groups the key of a column is `link.attribute`, or the attribute of the first table.
        link, _, attribute = shown.key.rpartition(".")
        return Order(attribute, link=link or None, descending=descending)

    def _shown_as(self, node: exp.Expr) -> ShownColumn | None:
        """Return the selected column that an order names without a table. As in T-SQL, the names of SELECT
        have precedence over those of the tables.
        """
        if not isinstance(node, exp.Column) or node.table:
            return None
        name = node.name.lower()
        return next((shown for shown in self._shown if shown.name.lower() == name), None)

    def _key_of(self, node: exp.Expr) -> str:
        """Return the key of the selected column that an order of groups repeats. Raises WebApiError."""
        for shown, selected in zip(self._shown, self._select.expressions, strict=True):
            if (selected.this if isinstance(selected, exp.Alias) else selected) == node:
                return shown.key
        raise bad_url(f"ORDER BY '{node.sql(dialect='tsql')[:100]}' needs the same among the columns.")


def _most_rows(node: exp.Expr | None) -> int | None:
    """Return the most rows that TOP or FETCH leaves; None without either. Raises WebApiError."""
    if node is None:
        return None
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise unsupported("PERCENT and WITH TIES in sql")
    return whole(node.args.get("count") if isinstance(node, exp.Fetch) else node.expression, "TOP or FETCH")


def answer(request: Request, type_: EntityType) -> Response:
    """Answer with the rows of a statement. Empty values are null. Raises WebApiError."""
    if unknown := request.query.keys() - {"sql", "$skiptoken"}:
        raise bad_url(f"{min(unknown)} does not go together with sql.")
    selection = read(request.query["sql"], request.model, dt.datetime.now(dt.UTC))
    if selection.query.entity != type_.name:
        raise bad_url(f"The statement is about '{selection.query.entity}', the address about '{type_.name}'.")
    paging = Paging(request, Options(skiptoken=request.query.get("$skiptoken")))
    result = _limited_rows(request, selection) if selection.most is not None or selection.skipped else None
    if result is None:
        result = request.platform.query(selection.query, paging.page, call=request.call)
    content = {
        "@odata.context": context(request.base, type_),
        "value": [row_content(request, selection.shown, row, empty=True) for row in result.rows],
        **paging.next_link(result.next, type_.entity.primary_id, NO_RECORD, NO_RECORD),
    }
    return collection_response(request, content)


def _limited_rows(request: Request, selection: Selection) -> QueryResult:
    """Return the rows that TOP, or OFFSET with FETCH, leaves: one page, of at most the largest size."""
    query, token = selection.query, None
    most = min(LARGEST_PAGE if selection.most is None else selection.most, LARGEST_PAGE)
    # A page of the skipped rows is read for its token, which leads to the rows after them.
    if selection.skipped:
        token = request.platform.query(query, Page(selection.skipped), call=request.call).next
    if not most or (selection.skipped and token is None):
        return QueryResult([], None, None)
    page = request.platform.query(query, Page(most, token), call=request.call)
    return QueryResult(page.rows, None, None)
