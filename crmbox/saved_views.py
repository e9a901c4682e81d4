"""Saved views, which are records: those of the organisation, and those of users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from crmclient.optional_abilities import SavedView
from crmclient.query.ast import Column, Condition, Filter, Operator, Order, Query
from crmclient.values import QueryResult

MAIN: Final = 0
"""The query type of views that list records. Other types are for searches and lookups."""


def saved_views(ask: Callable[[Query], QueryResult], entity: str) -> Iterator[SavedView]:
    """Yield the saved views of an entity, first the system views, then personal ones. `ask` runs a query."""
    for view_entity, is_personal in (("savedquery", False), ("userquery", True)):
        query = Query(
            view_entity,
            columns=(Column("name"), Column("fetchxml")),
            filter=Filter(
                (
                    Condition("returnedtypecode", Operator.EQ, (entity,)),
                    Condition("querytype", Operator.EQ, (MAIN,)),
                    Condition("fetchxml", Operator.NOT_NULL),
                )
            ),
            orders=(Order("name"),),
        )
        for row in ask(query).rows:
            yield SavedView(str(row["name"]), str(row["fetchxml"]), is_personal)
