"""Orders and pages: whatever the size, the pages joined are the whole result in its order."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.platform import EmbeddedPlatform
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Link, LinkType, Operator, Order, Page
from tests.crmbox.asking import books, run, walk
from tests.crmbox.library import TITLES, TYPES, Tables
from tests.crmbox.naive import evaluate

pytestmark = pytest.mark.django_db

EVERYTHING = tuple(Column(name) for name in ("lib_bookid", *TYPES))
ORDERS = {
    "none": (),
    "text": (Order("title"),),
    "text down": (Order("title", descending=True),),
    "empty text down": (Order("summary", descending=True), Order("title")),
    "empty text up": (Order("summary"), Order("pages", descending=True)),
    "money up": (Order("price"),),
    "money down": (Order("price", descending=True), Order("weight")),
    "decimal": (Order("weight", descending=True),),
    "double": (Order("score"), Order("isbn", descending=True)),
    "choice by label": (Order("genre"),),
    "choice by label down": (Order("genre", descending=True), Order("published", descending=True)),
    "lookup by name": (Order("authorid"), Order("released")),
    "lookup by name down": (Order("holderid", descending=True),),
    "boolean": (Order("printed", descending=True), Order("genre")),
    "id": (Order("lib_bookid", descending=True),),
    "twice": (Order("pages"), Order("pages", descending=True)),
}


@pytest.mark.parametrize("name", ORDERS)
def test_pages_of_any_size_join_to_the_whole_order(library: Tables, name: str) -> None:
    query = books(columns=EVERYTHING, orders=ORDERS[name])
    expected = evaluate(query, library)
    assert run(query).rows == expected
    for size in (1, 7, 69, 70, 71):
        assert walk(query, size) == expected


def test_rows_that_come_and_go_between_pages_disturb_no_other(library: Tables) -> None:
    query = books(columns=EVERYTHING, orders=(Order("price", descending=True), Order("title")))
    old = {row["lib_bookid"] for row in run(query).rows}
    platform = EmbeddedPlatform()
    seen: list[object] = []
    page = Page(size=4)
    while True:
        result = run(query, page)
        seen += [row["lib_bookid"] for row in result.rows]
        if result.next is None:
            break
        page = Page(size=4, token=result.next)
        late = [platform.create("lib_book", {"title": title, "price": Decimal(20)}).id for title in "Az"]
        platform.delete("lib_book", late[0])
    assert Counter(id for id in seen if id in old) == Counter(old)


def test_a_column_can_be_sorted_by_under_its_alias_and_a_lookup_shown_by_its_name(library: Tables) -> None:
    query = books(
        columns=(Column("holderidname", "holder"), Column("lib_bookid")), orders=(Order(alias="holder"),)
    )
    named = books(
        columns=(Column("holderidname", "holder"), Column("lib_bookid")), orders=(Order("holderidname"),)
    )
    rows = run(query).rows
    assert rows == walk(query, 9) == evaluate(named, library)
    assert any(isinstance(row["holder"], str) for row in rows)


def test_the_total_is_exact_and_given_only_when_asked_for(library: Tables) -> None:
    query = books(Condition("pages", Operator.NOT_NULL))
    assert run(query, Page(size=2, total=True)).total == len(evaluate(query, library))
    assert run(query, Page(size=2)).total is None


def test_top_cuts_the_result(library: Tables) -> None:
    query = books(top=3, orders=(Order("price", descending=True),))
    assert run(query).rows == evaluate(query, library)
    assert run(query, Page(total=True)).total == 3


_VALUES: dict[str, list[Any]] = {
    "title": list(TITLES),
    "summary": list(TITLES),
    "price": [Decimal("-12.5"), Decimal(0), Decimal("922337203685477.5807")],
    "weight": [Decimal("1.5"), Decimal("-0.0000000001"), Decimal("99999999999.9999999999")],
    "score": [-1.5, 0.0, 2.25],
    "pages": [0, 100, -7],
    "isbn": [2**63 - 1, 9_780_000_000_001],
    "genre": [1, 2, 3, 4, 5],
    "released": [dt.date(2024, 12, 31), dt.date(2025, 1, 1)],
}
_COMPARING = (Operator.EQ, Operator.NE, Operator.GT, Operator.GE, Operator.LT, Operator.LE)


@st.composite
def _conditions(draw: st.DrawFn) -> Condition:
    attribute = draw(st.sampled_from(sorted(_VALUES)))
    values = st.sampled_from(_VALUES[attribute])
    operator = draw(
        st.sampled_from(
            (*_COMPARING, Operator.IN, Operator.NOT_IN, Operator.BETWEEN, Operator.NULL, Operator.NOT_NULL)
        )
    )
    if operator in {Operator.NULL, Operator.NOT_NULL}:
        return Condition(attribute, operator)
    if operator in {Operator.IN, Operator.NOT_IN}:
        return Condition(attribute, operator, tuple(draw(st.lists(values, min_size=1, max_size=3))))
    return Condition(
        attribute, operator, tuple(draw(values) for _ in range(2 if operator is Operator.BETWEEN else 1))
    )


_GROUPS = st.recursive(
    _conditions(),
    lambda items: st.builds(Filter, st.lists(items, max_size=3).map(tuple), st.booleans()),
    max_leaves=6,
)
_SORTABLE = sorted(set(TYPES) - {"tags"})
_ORDERS = st.lists(st.builds(Order, st.sampled_from(_SORTABLE), descending=st.booleans()), max_size=3).map(
    tuple
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(item=_GROUPS, orders=_ORDERS, size=st.integers(1, 40))
def test_any_filter_in_any_order_pages_like_the_measure(
    library: Tables, item: FilterItem, orders: tuple[Order, ...], size: int
) -> None:
    query = books(item, orders=orders)
    assert walk(query, size) == evaluate(query, library)


def test_rows_without_a_linked_record_are_paged_too(library: Tables) -> None:
    """Of an outer link even the key is empty there."""
    same_title = Link("lib_author", "name", "title", "namesake", type=LinkType.OUTER)
    query = books(columns=(Column("lib_bookid"),), links=(same_title,))
    expected = evaluate(query, library)
    for size in (1, 7):
        assert walk(query, size) == expected
