"""Queries that cannot be run: each refused with the name of the construct, before any SQL exists."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from crmbox.metadata import change
from crmclient.errors import InvalidQuery, UnknownEntity
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import (
    Aggregate,
    Column,
    Condition,
    DateGrouping,
    Filter,
    Link,
    Operator,
    Order,
    Page,
    Query,
)
from tests.crmbox.asking import AUTHOR, author, books, run, where, written
from tests.crmbox.library import Tables

pytestmark = pytest.mark.django_db

COUNT = Column("lib_bookid", "books", Aggregate.COUNT)


def deep(depth: int) -> Filter:
    group = Filter((Condition("pages", Operator.NULL),))
    for _ in range(depth):
        group = Filter((group,))
    return group


REFUSED: dict[str, tuple[Query, str]] = {
    "unknown column": (books(columns=(Column("colour"),)), "'colour'"),
    "unknown attribute": (books(Condition("colour", Operator.EQ, ("red",))), "condition colour eq"),
    "unknown attribute in a link": (books(links=(author(Column("colour")),)), "'colour'"),
    "unknown order": (books(orders=(Order("colour"),)), "order colour"),
    "unknown alias": (books(Condition("age", Operator.NULL, link="x")), "alias 'x'"),
    "unknown order alias": (books(orders=(Order(alias="x"),)), "order x"),
    "alias used twice": (books(links=(author(), author())), "'a' is used twice"),
    "no alias": (books(links=(author(alias=""),)), "an alias is needed"),
    "two columns of one name": (books(columns=(Column("title"), Column("pages", "title"))), "'title'"),
    "text for a number": (books(Condition("pages", Operator.EQ, ("100",))), "condition pages eq"),
    "float for money": (books(Condition("price", Operator.EQ, (1.5,))), "condition price eq"),
    "five places for money": (books(Condition("price", Operator.EQ, (Decimal("0.00001"),))), "price eq"),
    "true for a number": (books(Condition("pages", Operator.IN, (True,))), "condition pages in"),
    "number for a boolean": (books(Condition("printed", Operator.EQ, (1,))), "condition printed eq"),
    "naive moment": (books(Condition("published", Operator.GT, (dt.datetime(2025, 1, 1),))), "published gt"),  # noqa: DTZ001
    "moment for a day": (
        books(Condition("released", Operator.EQ, (dt.datetime(2025, 1, 1, tzinfo=dt.UTC),))),
        "condition released eq",
    ),
    "no GUID": (books(Condition("authorid", Operator.EQ, ("Smith",))), "condition authorid eq"),
    "empty value": (books(Condition("pages", Operator.EQ, (None,))), "null or not-null"),
    "empty value in a list": (books(Condition("pages", Operator.IN, (1, None))), "condition pages in"),
    "empty list": (books(Condition("pages", Operator.IN)), "at least one value"),
    "too many values": (books(Condition("pages", Operator.IN, tuple(range(2001)))), "at most 2000"),
    "no value": (books(Condition("pages", Operator.EQ)), "one value"),
    "value for null": (books(Condition("pages", Operator.NULL, (1,))), "no value"),
    "one bound": (books(Condition("pages", Operator.BETWEEN, (1,))), "two values"),
    "like on a number": (books(Condition("pages", Operator.LIKE, ("1%",))), "condition pages like"),
    "greater on a lookup": (books(Condition("authorid", Operator.GT, ("a",))), "lookup"),
    "contain-values on a choice": (books(Condition("genre", Operator.CONTAIN_VALUES, (1,))), "genre"),
    "text among options": (books(Condition("tags", Operator.CONTAIN_VALUES, ("1",))), "tags"),
    "long pattern": (books(Condition("title", Operator.LIKE, ("x" * 4001,))), "4000"),
    "columns of two types": (books(Condition("pages", Operator.EQ, value_of=(None, "title"))), "compared"),
    "value and column": (books(Condition("pages", Operator.EQ, (1,), value_of=(None, "isbn"))), "not both"),
    "column with like": (books(Condition("title", Operator.LIKE, value_of=(None, "summary"))), "title like"),
    "link over two types": (books(links=(Link(AUTHOR, "age", "title", "a"),)), "link-entity 'a'"),
    "a link's filter on a stranger": (
        books(links=(author(), author(alias="h", filter=where(Condition("age", Operator.NULL, link="a"))))),
        "not 'a'",
    ),
    "order by choices": (books(orders=(Order("tags"),)), "lib_book.tags"),
    "distinct, another order": (
        books(columns=(Column("title"),), distinct=True, orders=(Order("pages"),)),
        "order pages",
    ),
    "distinct over very many": (
        books(columns=tuple(Column("title", f"t{n}") for n in range(65)), distinct=True, orders=()),
        "at most 64",
    ),
    "very many columns": (books(columns=tuple(Column("title", f"t{n}") for n in range(501))), "500"),
    "top and page": (books(top=1), "top"),
    "top of nothing": (books(top=0), "top"),
    "deep filter": (Query("lib_book", (), deep(60)), "nested"),
    "many conditions": (books(*[Condition("pages", Operator.NULL)] * 501), "500"),
    "many links": (books(links=tuple(author(alias=f"a{n}") for n in range(16))), "15"),
    "aggregate without alias": (books(columns=(Column("price", aggregate=Aggregate.SUM),)), "alias"),
    "neither grouped nor aggregated": (books(columns=(COUNT, Column("title", "t"))), "grouped or aggregated"),
    "sum of text": (books(columns=(Column("title", "t", Aggregate.SUM),)), "sum"),
    "greatest of texts": (books(columns=(Column("title", "t", Aggregate.MAX),)), "max"),
    "distinct sum": (books(columns=(Column("price", "p", Aggregate.SUM, distinct=True),)), "countcolumn"),
    "dategrouping of a number": (
        books(columns=(COUNT, Column("pages", "p", group_by=True, date_grouping=DateGrouping.DAY))),
        "dategrouping",
    ),
    "aggregate sorted by attribute": (books(columns=(COUNT,), orders=(Order("pages"),)), "order pages"),
    "aggregate sorted by a stranger": (books(columns=(COUNT,), orders=(Order(alias="x"),)), "order x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_query_that_cannot_be_run_is_refused_by_name(library: Tables, name: str) -> None:
    query, said = REFUSED[name]
    with pytest.raises(InvalidQuery) as refused:
        run(query, Page(size=5))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        books(columns=(Column("keeperidname"),)),
        books(Condition("keeperidname", Operator.BEGINS_WITH, ("A",))),
        books(orders=(Order("keeperidname"),)),
        books(columns=(COUNT, Column("keeperidname", "k", group_by=True))),
        books(links=(author(to="keeperid"),)),
    ],
    ids=["column", "condition", "order", "group", "link"],
)
def test_the_name_of_a_lookup_that_nobody_reads_is_not_read(library: Tables, query: Query) -> None:
    keeper = Attribute("keeperid", AttributeType.LOOKUP, targets=("lib_author",), readable=False)
    with change() as metadata:
        metadata.create_attributes("lib_book", [keeper])
    with pytest.raises(InvalidQuery, match="does not return its value"):
        run(query)


def test_an_unknown_entity_is_named(library: Tables) -> None:
    for query in (Query("lib_shelf"), books(links=(Link("lib_shelf", "lib_shelfid", "authorid", "s"),))):
        with pytest.raises(UnknownEntity, match="lib_shelf"):
            run(query)


def test_a_page_token_of_another_query_is_refused(library: Tables) -> None:
    token = run(books(), Page(size=2)).next
    for other in (books(orders=(Order("title"),)), books(Condition("pages", Operator.NOT_NULL))):
        with pytest.raises(InvalidQuery, match="another query"):
            run(other, Page(size=2, token=token))


@pytest.mark.parametrize("change", [lambda token: token[:-1] + "é", lambda token: "x" + token, lambda _: ""])
def test_a_page_token_that_was_touched_is_refused(library: Tables, change: object) -> None:
    token = run(books(), Page(size=2)).next
    with pytest.raises(InvalidQuery, match="token is not valid"):
        run(books(), Page(size=2, token=change(token)))  # type: ignore[operator]


def test_a_page_has_at_least_one_row(library: Tables) -> None:
    with pytest.raises(InvalidQuery, match="at least one row"):
        run(books(), Page(size=0))


def test_a_token_serves_the_same_query_with_other_values(library: Tables) -> None:
    """Only the shape is bound: a grid may narrow a value and go on from where it was."""

    def thinner_than(pages: int) -> Query:
        thin = where(Condition("pages", Operator.LT, (pages,)))
        return Query(AUTHOR, (Column("name"),), links=(written(filter=thin),))

    first = run(thinner_than(999), Page(size=1))
    assert run(thinner_than(50), Page(size=50, token=first.next)).next is None
