"""Aggregates: exact, over groups that compare equal, empty values left out."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmclient.query.ast import (
    Aggregate,
    Column,
    Condition,
    DateGrouping,
    LinkType,
    Operator,
    Order,
    Page,
    Query,
)
from crmclient.text import fold
from crmclient.values import Reference
from tests.crmbox.asking import AUTHOR, author, books, run, walk, where, written
from tests.crmbox.library import Row, Tables

pytestmark = pytest.mark.django_db

COUNT = Column("lib_bookid", "books", Aggregate.COUNT)


def total(attribute: str, aggregate: Aggregate, alias: str = "value") -> Column:
    return Column(attribute, alias, aggregate)


def group(attribute: str, alias: str | None = None, by: DateGrouping | None = None) -> Column:
    return Column(attribute, alias or attribute, group_by=True, date_grouping=by)


def grouped(rows: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def present(rows: list[Row], attribute: str) -> list[Any]:
    return [row[attribute] for row in rows if row[attribute] is not None]


@pytest.mark.parametrize("attribute", ["price", "weight", "isbn", "pages"])
def test_sums_are_exact_however_large(library: Tables, attribute: str) -> None:
    rows = run(books(columns=(total(attribute, Aggregate.SUM), group("genre")))).rows
    expected = grouped(library["lib_book"], lambda row: row["genre"])
    assert {row["genre"]: row["value"] for row in rows} == {
        genre: sum(present(members, attribute), Decimal(0)) for genre, members in expected.items()
    }
    assert {type(row["value"]) for row in rows} == {Decimal if attribute in {"price", "weight"} else int}


def test_an_average_of_money_is_rounded_to_four_places(library: Tables) -> None:
    rows = run(books(columns=(total("price", Aggregate.AVG), group("pages")))).rows
    expected = {}
    for pages, members in grouped(library["lib_book"], lambda row: row["pages"]).items():
        prices = present(members, "price")
        expected[pages] = (sum(prices, Decimal(0)) / len(prices)).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    assert {row["pages"]: row["value"] for row in rows} == expected
    assert {len(str(row["value"]).partition(".")[2]) for row in rows} == {4}


def test_an_average_of_whole_numbers_is_whole(library: Tables) -> None:
    [row] = run(books(columns=(total("pages", Aggregate.AVG),))).rows
    pages = present(library["lib_book"], "pages")
    assert row["value"] == int(sum(pages) / len(pages))
    assert isinstance(row["value"], int)


@pytest.mark.parametrize("attribute", ["price", "weight", "score", "pages", "published", "released"])
def test_least_and_greatest_leave_empty_values_out(library: Tables, attribute: str) -> None:
    columns = (total(attribute, Aggregate.MIN, "least"), total(attribute, Aggregate.MAX, "most"))
    [row] = run(books(columns=columns)).rows
    values = present(library["lib_book"], attribute)
    assert (row["least"], row["most"]) == (min(values), max(values))


def test_counts_of_rows_values_and_different_values(library: Tables) -> None:
    columns = (
        COUNT,
        total("summary", Aggregate.COUNT_COLUMN, "filled"),
        Column("summary", "different", Aggregate.COUNT_COLUMN, distinct=True),
    )
    [row] = run(books(columns=columns)).rows
    summaries = present(library["lib_book"], "summary")
    assert row == {"books": 70, "filled": len(summaries), "different": len({fold(s) for s in summaries})}


def test_over_no_rows_a_sum_is_zero_and_the_rest_empty(library: Tables) -> None:
    nothing = Condition("title", Operator.EQ, ("no such book",))
    columns = (COUNT, total("price", Aggregate.SUM, "sum"), total("price", Aggregate.AVG, "avg"))
    assert run(books(nothing, columns=columns)).rows == [{"books": 0, "sum": Decimal("0.0000"), "avg": None}]
    assert run(books(nothing, columns=(*columns, group("genre")))).rows == []


def test_texts_that_compare_equal_are_one_group(library: Tables) -> None:
    rows = run(books(columns=(group("title"), COUNT), orders=(Order(alias="title"),))).rows
    expected = grouped(library["lib_book"], lambda row: fold(str(row["title"])))
    assert [(fold(str(row["title"])), row["books"]) for row in rows] == [
        (title, len(members)) for title, members in sorted(expected.items())
    ]


def test_a_group_of_a_lookup_is_a_reference_with_its_name(library: Tables) -> None:
    rows = run(books(columns=(group("holderid", "holder"), COUNT))).rows
    expected = grouped(library["lib_book"], lambda row: row["holderid"])
    assert {row["holder"]: row["books"] for row in rows} == {
        holder: len(members) for holder, members in expected.items()
    }
    assert any(isinstance(row["holder"], Reference) and row["holder"].name for row in rows)


_PARTS: dict[DateGrouping, Callable[[dt.datetime | dt.date], int]] = {
    DateGrouping.DAY: lambda moment: moment.day,
    DateGrouping.WEEK: lambda moment: _week(moment),
    DateGrouping.MONTH: lambda moment: moment.month,
    DateGrouping.QUARTER: lambda moment: (moment.month + 2) // 3,
    DateGrouping.YEAR: lambda moment: moment.year,
    # The settings have calendar years of four quarters.
    DateGrouping.FISCAL_PERIOD: lambda moment: (moment.month + 2) // 3,
    DateGrouping.FISCAL_YEAR: lambda moment: moment.year,
}


def _week(moment: dt.datetime | dt.date) -> int:
    """Counted on the fingers: a new week at every Sunday after New Year."""
    day, week = dt.date(moment.year, 1, 1), 1
    while day < dt.date(moment.year, moment.month, moment.day):
        day += dt.timedelta(days=1)
        week += day.isoweekday() == 7
    return week


@pytest.mark.parametrize("attribute", ["published", "released"])
@pytest.mark.parametrize("by", list(DateGrouping))
def test_dates_are_grouped_by_their_part_in_utc(library: Tables, attribute: str, by: DateGrouping) -> None:
    rows = run(books(columns=(group(attribute, "part", by), COUNT))).rows
    filled = [row for row in library["lib_book"] if row[attribute] is not None]
    expected = grouped(filled, lambda row: _PARTS[by](row[attribute]))  # type: ignore[arg-type]
    assert {row["part"]: row["books"] for row in rows if row["part"] is not None} == {
        part: len(members) for part, members in expected.items()
    }


def test_groups_come_in_the_order_of_their_totals_and_page_by_page(library: Tables) -> None:
    query = books(
        columns=(group("genre"), group("printed"), total("price", Aggregate.SUM, "worth"), COUNT),
        orders=(Order(alias="worth", descending=True), Order(alias="genre")),
    )
    rows = run(query).rows
    worths = [row["worth"] for row in rows]
    assert worths == sorted(worths, reverse=True)  # type: ignore[type-var]
    assert run(query, Page(size=3, total=True)).total == len(rows)
    for size in (1, 4, 100):
        assert walk(query, size) == rows


def test_groups_of_a_choice_are_sorted_by_label(library: Tables) -> None:
    rows = run(books(columns=(group("genre"), COUNT), orders=(Order(alias="genre"),))).rows
    # Atlas, crime and CRIME, Essay, Poetry; the books without a genre first.
    assert [row["genre"] for row in rows] == [None, 4, 2, 5, 3, 1]


def test_groups_and_totals_over_a_link(library: Tables) -> None:
    no_poetry = Condition("genre", Operator.NE, (1,))
    query = Query(
        AUTHOR,
        (group("city"),),
        links=(written(COUNT, total("pages", Aggregate.SUM, "pages"), filter=where(no_poetry)),),
    )
    authors = {row["lib_authorid"]: row for row in library["lib_author"]}
    joined = [
        {**row, "city": authors[row["authorid"].id]["city"]}
        for row in library["lib_book"]
        if isinstance(row["authorid"], Reference) and row["genre"] != 1
    ]
    expected = grouped(joined, lambda row: fold(str(row["city"])))
    rows = run(query).rows
    assert {fold(str(row["city"])): (row["books"], row["pages"]) for row in rows} == {
        city: (len(members), sum(present(members, "pages"))) for city, members in expected.items()
    }


def test_top_takes_the_first_groups(library: Tables) -> None:
    query = books(columns=(group("authorid"), COUNT), orders=(Order(alias="books", descending=True),), top=2)
    rows = run(query).rows
    assert len(rows) == 2
    assert rows[0]["books"] >= rows[1]["books"]  # type: ignore[operator]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["genre", "printed", "tags", "serial", "released", "authorid"]))
def test_the_counts_of_all_groups_make_all_rows(library: Tables, attribute: str) -> None:
    rows = run(books(columns=(group(attribute), COUNT), links=(author(type=LinkType.OUTER),))).rows
    assert sum(row["books"] for row in rows) == 70  # type: ignore[misc]
