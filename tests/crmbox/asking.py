"""Asking the query engine, whole and page by page, with short names for what tests write often."""

from __future__ import annotations

from typing import Any

from crmbox.engine import queries
from crmbox.engine.connection import read_unit
from crmclient.query.ast import ALL, Column, Filter, FilterItem, Link, Page, Query
from crmclient.values import QueryResult
from tests.crmbox.library import Row

BOOK, AUTHOR, READER = "lib_book", "lib_author", "lib_reader"
SOME = (Column("lib_bookid"), Column("title"))


def run(query: Query, page: Page = ALL) -> QueryResult:
    with read_unit() as unit:
        return queries.run(unit, query, page)


def walk(query: Query, size: int) -> list[Row]:
    """Every row, asked for in pages of `size`, each of which must be full but the last."""
    rows: list[Row] = []
    page = Page(size=size)
    while True:
        result = run(query, page)
        assert len(result.rows) <= size
        rows += result.rows
        if result.next is None:
            return rows
        assert len(result.rows) == size
        page = Page(size=size, token=result.next)


def where(*conditions: FilterItem, any: bool = False) -> Filter:
    return Filter(conditions, any)


def books(*conditions: FilterItem, columns: tuple[Column, ...] = SOME, **parts: Any) -> Query:
    return Query(BOOK, columns, where(*conditions) if conditions else None, **parts)


def author(*columns: Column, to: str = "authorid", alias: str = "a", **parts: Any) -> Link:
    """A link from a book to its author."""
    return Link(AUTHOR, "lib_authorid", to, alias, columns=columns, **parts)


def written(*columns: Column, **parts: Any) -> Link:
    """A link from an author to the books."""
    return Link(BOOK, "authorid", "lib_authorid", "b", columns=columns, **parts)
