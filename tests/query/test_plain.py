"""Plain queries as FetchXML for a platform: what `parse` reads back means the same."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crmclient.errors import InvalidQuery
from crmclient.query.ast import (
    Aggregate,
    Column,
    Condition,
    DateGrouping,
    Filter,
    Link,
    LinkType,
    Operator,
    Order,
    Query,
)
from crmclient.query.fetchxml import parse
from crmclient.query.fetchxml.plain_queries import write_plain
from crmclient.values import Reference, Value


def written(condition: Condition) -> Any:
    """The condition element of a query with this one condition."""
    text = write_plain(Query("account", (Column("name"),), Filter((condition,))))
    return etree.fromstring(text).find("entity/filter/condition")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "1"),
        (False, "0"),
        (7, "7"),
        (Decimal("1E+2"), "100"),
        (Decimal("922337203685477.5807"), "922337203685477.5807"),
        (0.1, "0.1"),
        (-0.00001, "-0.00001"),
        (1e16, "10000000000000000"),
        (dt.datetime(2026, 1, 31, 12, 30, tzinfo=dt.timezone(dt.timedelta(hours=2))), "2026-01-31T10:30:00Z"),
        (dt.date(2026, 1, 31), "2026-01-31"),
        (
            Reference("contact", "00000000-0000-4000-8000-000000000001"),
            "00000000-0000-4000-8000-000000000001",
        ),
        ((100000001, 100000000), "100000001,100000000"),
        ("@user.id", "@user.id"),
        ("a < b & 'c'", "a < b & 'c'"),
    ],
)
def test_values_are_written_as_the_platform_reads_them(value: Value, text: str) -> None:
    assert written(Condition("x", Operator.EQ, (value,))).get("value") == text


@pytest.mark.parametrize(
    ("operator", "sent", "value"),
    [
        (Operator.CONTAINS, "like", "%100[%][_][[]a]%"),
        (Operator.BEGINS_WITH, "like", "100[%][_][[]a]%"),
        (Operator.ENDS_WITH, "like", "%100[%][_][[]a]"),
        (Operator.NOT_BEGINS_WITH, "not-like", "100[%][_][[]a]%"),
        (Operator.NOT_ENDS_WITH, "not-like", "%100[%][_][[]a]"),
        (Operator.LIKE, "like", "100%_[a]"),
    ],
)
def test_wildcards_are_wildcards_in_like_alone(operator: Operator, sent: str, value: str) -> None:
    element = written(Condition("x", operator, ("100%_[a]",)))
    assert (element.get("operator"), element.get("value")) == (sent, value)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_value_never_changes_the_query(value: str) -> None:
    element = written(Condition("x", Operator.EQ, (value,)))
    assert element.get("value") == value
    assert len(element) == 0


@pytest.mark.parametrize("value", ["nul\0", "half \ud800"])
def test_text_that_xml_cannot_hold_is_refused(value: str) -> None:
    with pytest.raises(InvalidQuery, match="condition x eq"):
        written(Condition("x", Operator.EQ, (value,)))


def test_a_whole_query_is_read_back() -> None:
    query = Query(
        "account",
        (Column("name"),),
        Filter(
            (
                Condition("statecode", Operator.EQ, (0,)),
                Filter(
                    (Condition("fax", Operator.NULL), Condition("sic", Operator.IN, ("a", "b"))), any=True
                ),
                Condition("name", Operator.EQ, (), None, ("c", "fullname")),
            )
        ),
        (
            Link(
                "contact",
                "contactid",
                "primarycontactid",
                "c",
                type=LinkType.OUTER,
                columns=(Column("fullname"),),
                filter=Filter((Condition("age", Operator.BETWEEN, (1, 2)),)),
            ),
        ),
        (Order("name", descending=True), Order("fullname", link="c")),
        distinct=True,
    )

    read = parse(write_plain(query, count=50, total=True))

    assert (read.page_size, read.total, read.distinct, read.orders) == (50, True, True, query.orders)
    assert parse(write_plain(query)).links[0].type is LinkType.OUTER
    assert [type(item).__name__ for item in read.filter.items] == [  # type: ignore[union-attr]
        "DesignedCondition",
        "DesignedFilter",
        "DesignedCondition",
    ]


def test_days_are_grouped_in_utc() -> None:
    text = write_plain(
        Query(
            "account",
            (
                Column("createdon", "day", group_by=True, date_grouping=DateGrouping.DAY),
                Column("accountid", "number", Aggregate.COUNT),
            ),
            orders=(Order(alias="day"),),
        )
    )

    assert 'aggregate="true"' in text
    assert parse(text).columns[0].user_time_zone is False


def test_a_page_is_asked_for_by_number_and_cookie() -> None:
    text = write_plain(Query("account"), count=10, page=3, cookie='<cookie page="2"/>')

    fetch = etree.fromstring(text)
    assert (fetch.get("count"), fetch.get("page"), fetch.get("paging-cookie")) == (
        "10",
        "3",
        '<cookie page="2"/>',
    )
