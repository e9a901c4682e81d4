"""Conditions and groups, each against the same in plain Python."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from crmclient.query.ast import Condition, Filter, FilterItem, Operator, Query
from tests.crmbox.asking import AUTHOR, books, run, where
from tests.crmbox.library import Tables
from tests.crmbox.naive import evaluate

pytestmark = pytest.mark.django_db

FILTERS: dict[str, FilterItem] = {
    "text eq folds": Condition("title", Operator.EQ, ("ÄPFEL",)),
    "text ne": Condition("summary", Operator.NE, ("apfel",)),
    "text gt": Condition("title", Operator.GT, ("b",)),
    "text between": Condition("title", Operator.BETWEEN, ("A", "l")),
    "text in": Condition("title", Operator.IN, ("apfel", "WEISS")),
    "text not in": Condition("summary", Operator.NOT_IN, ("Äpfel", "الكتاب")),
    "like any": Condition("title", Operator.LIKE, ("%PFEL%",)),
    "like one": Condition("title", Operator.LIKE, ("100_Wolle",)),
    "like percent in brackets": Condition("title", Operator.LIKE, ("100[%]%",)),
    "like range": Condition("title", Operator.LIKE, ("[a-c]%",)),
    "like none of": Condition("title", Operator.LIKE, ("[^a-z]%",)),
    "like bracket left open": Condition("title", Operator.LIKE, ("[draft%",)),
    "like a star is a star": Condition("title", Operator.LIKE, ("%*?%",)),
    "like caret": Condition("title", Operator.LIKE, ("a[^]b%",)),
    "like bracket closed": Condition("title", Operator.LIKE, ("%c]d",)),
    "like backslash": Condition("title", Operator.LIKE, ("back\\slash%",)),
    "like over a line break": Condition("title", Operator.LIKE, ("line%break",)),
    "not like": Condition("summary", Operator.NOT_LIKE, ("%a%",)),
    "begins": Condition("title", Operator.BEGINS_WITH, ("100%",)),
    "ends": Condition("title", Operator.ENDS_WITH, ("]D",)),
    "contains": Condition("title", Operator.CONTAINS, ("'neill;",)),
    "not begins": Condition("summary", Operator.NOT_BEGINS_WITH, ("a",)),
    "not ends": Condition("summary", Operator.NOT_ENDS_WITH, ("e",)),
    "largest money": Condition("price", Operator.EQ, (Decimal("922337203685477.5807"),)),
    "money with zeros": Condition("price", Operator.EQ, (Decimal("19.990000"),)),
    "money above": Condition("price", Operator.GT, (Decimal("19.99"),)),
    "money between": Condition("price", Operator.BETWEEN, (Decimal(-13), 20)),
    "money not between": Condition("price", Operator.NOT_BETWEEN, (Decimal(0), Decimal(20))),
    "decimal below": Condition("weight", Operator.LT, (Decimal("0"),)),
    "decimal in": Condition("weight", Operator.IN, (Decimal("99999999999.9999999999"), Decimal("1.50"))),
    "double ge": Condition("score", Operator.GE, (2,)),
    "integer ne": Condition("pages", Operator.NE, (100,)),
    "bigint eq": Condition("isbn", Operator.EQ, (2**63 - 1,)),
    "boolean": Condition("printed", Operator.EQ, (False,)),
    "boolean in": Condition("printed", Operator.IN, (True, False)),
    "moment": Condition(
        "published", Operator.GE, (dt.datetime(2025, 3, 1, tzinfo=dt.timezone(dt.timedelta(hours=3))),)
    ),
    "day": Condition("released", Operator.LE, (dt.date(2025, 1, 1),)),
    "choice in": Condition("genre", Operator.IN, (1, 3)),
    "choice le": Condition("genre", Operator.LE, (2,)),
    "choices same": Condition("tags", Operator.EQ, ((2, 1),)),
    "choices any": Condition("tags", Operator.CONTAIN_VALUES, (1, 3)),
    "choices none": Condition("tags", Operator.NOT_CONTAIN_VALUES, (1, 21)),
    "null": Condition("price", Operator.NULL),
    "lookup null": Condition("holderid", Operator.NULL),
    "not null": Condition("authorid", Operator.NOT_NULL),
    "lookup's name": Condition("authorid", Operator.CONTAINS, ("apf",)),
    "lookup's name column": Condition("holderidname", Operator.EQ, ("A^B-C]D 0",)),
    "polymorphic name": Condition("holderid", Operator.NOT_LIKE, ("%e%",)),
    "two columns": Condition("title", Operator.EQ, value_of=(None, "summary")),
    "two columns differ": Condition("title", Operator.NE, value_of=(None, "summary")),
    "or in and": where(
        Condition("pages", Operator.EQ, (100,)),
        where(Condition("genre", Operator.EQ, (1,)), Condition("printed", Operator.NULL), any=True),
    ),
    "empty groups": where(
        Filter(),
        Condition("pages", Operator.EQ, (0,)),
        where(Filter(), Condition("genre", Operator.NULL), any=True),
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_gives_the_rows_it_describes(library: Tables, name: str) -> None:
    query = books(FILTERS[name])
    expected = evaluate(query, library)
    assert 0 < len(expected) < 70, "the query should tell rows apart"
    assert run(query).rows == expected


def test_a_query_without_columns_gives_the_primary_id(library: Tables) -> None:
    assert run(Query(AUTHOR)).rows == evaluate(Query(AUTHOR), library)
