"""Distinct rows, which are told apart as texts and numbers compare."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crmclient.query.ast import Column, Order, Page, Query
from crmclient.text import fold
from crmclient.values import Reference
from tests.crmbox.asking import AUTHOR, books, run, walk, written
from tests.crmbox.library import Row, Tables
from tests.crmbox.naive import evaluate

pytestmark = pytest.mark.django_db

DISTINCT = {
    "text": books(columns=(Column("title"),), distinct=True, orders=(Order("title", descending=True),)),
    "two columns": books(
        columns=(Column("genre"), Column("printed")), distinct=True, orders=(Order("genre"),)
    ),
    "lookup": books(columns=(Column("holderid"),), distinct=True, orders=(Order("holderid"),)),
    "money": books(columns=(Column("price"), Column("released")), distinct=True),
    "choices": books(columns=(Column("tags"),), distinct=True),
    "over a link": Query(
        AUTHOR,
        (Column("city"),),
        links=(written(Column("genre", "g")),),
        orders=(Order(alias="g", descending=True),),
        distinct=True,
    ),
}


@pytest.mark.parametrize("name", DISTINCT)
def test_distinct_rows_come_once_over_all_pages(library: Tables, name: str) -> None:
    query = DISTINCT[name]
    rows = run(query).rows
    expected = evaluate(query, library)
    assert sorted(_compared(row) for row in rows) == sorted(_compared(row) for row in expected)
    if name not in {"choices"}:
        assert [_compared(row) for row in rows] == [_compared(row) for row in expected]
    for size in (1, 3):
        assert walk(query, size) == rows
    assert run(query, Page(size=2, total=True)).total == len(expected)


def _compared(row: Row) -> str:
    """What tells distinct rows apart: neither the spelling of a text nor the zeros of a number."""
    plain = [value.id if isinstance(value, Reference) else value for value in row.values()]
    plain = [value.normalize() if isinstance(value, Decimal) else value for value in plain]
    return repr([fold(value) if isinstance(value, str) else value for value in plain])
