"""Pages: every row once, in order, with an exact count or none."""

from __future__ import annotations

from typing import Any

import pytest

from crmclient import Create, Platform
from crmclient.conventions import Ability
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Column, Condition, Filter, Link, Operator, Order, Page, Query
from crmclient.query.pages import MOST_PASSED_OVER
from tests.contract.making import accounts, unique

ROWS = 23


def fax(number: int) -> str | None:
    """Equal for several of them, empty for some."""
    return str(number % 3) if number % 4 else None


@pytest.fixture
def group(platform: Platform) -> str:
    """The value of `sic` that the accounts of one test have in common."""
    group = unique("page")[:20]
    platform.batch(
        [
            Create(
                "account",
                {"name": f"Page {number:02}", "sic": group, "fax": str(number % 3) if number % 4 else None},
            )
            for number in range(ROWS)
        ]
    )
    return group


def of(group: str, **parts: Any) -> Query:
    return accounts(Condition("sic", Operator.EQ, (group,)), **parts)


def walk(platform: Platform, query: Query, size: int) -> list[dict[str, Any]]:
    """Every row, page by page; all pages but the last must be full."""
    rows: list[dict[str, Any]] = []
    token: str | None = None
    while True:
        result = platform.query(query, Page(size=size, token=token))
        rows += result.rows
        token = result.next
        if token is None:
            return rows
        assert len(result.rows) == size


@pytest.mark.parametrize("size", [1, 7, ROWS - 1, ROWS, ROWS + 1, 5000])
def test_pages_hold_every_row_once_and_in_order(platform: Platform, group: str, size: int) -> None:
    rows = walk(platform, of(group, orders=(Order("name", descending=True),)), size)

    assert [row["name"] for row in rows] == [f"Page {number:02}" for number in reversed(range(ROWS))]


def test_pages_over_equal_and_empty_values_lose_no_row(platform: Platform, group: str) -> None:
    rows = walk(platform, of(group, columns=("accountid", "fax"), orders=(Order("fax"),)), 4)

    assert len({row["accountid"] for row in rows}) == ROWS
    assert [row["fax"] for row in rows] == sorted((row["fax"] for row in rows), key=lambda fax: fax or "")


@pytest.mark.needs(Ability.LINKED_PAGES)
def test_pages_in_the_order_of_a_link(platform: Platform, group: str) -> None:
    owner = Link("systemuser", "systemuserid", "createdby", "u", columns=(Column("fullname"),))
    query = of(group, columns=("accountid",), links=(owner,), orders=(Order("fullname", link="u"),))

    assert len({row["accountid"] for row in walk(platform, query, 5)}) == ROWS


@pytest.mark.needs(Ability.DISTINCT)
def test_pages_of_distinct_rows(platform: Platform, group: str) -> None:
    query = of(group, columns=("fax",), distinct=True, orders=(Order("fax"),))

    assert [row["fax"] for row in walk(platform, query, 2)] == [None, "0", "1", "2"]


def test_everything_is_one_page_without_a_size(platform: Platform, group: str) -> None:
    result = platform.query(of(group))

    assert (len(result.rows), result.next, result.total) == (ROWS, None, None)


@pytest.mark.parametrize(("page", "total"), [(Page(size=5, total=True), ROWS), (Page(total=True), ROWS)])
def test_the_count_is_of_all_rows(platform: Platform, group: str, page: Page, total: int) -> None:
    assert platform.query(of(group), page).total == total


def test_the_count_of_a_later_page_is_the_same(platform: Platform, group: str) -> None:
    first = platform.query(of(group), Page(size=5, total=True))

    assert platform.query(of(group), Page(size=5, token=first.next, total=True)).total == ROWS


def test_a_token_leads_on_however_far_behind_its_page_is(platform: Platform, group: str) -> None:
    """A page beyond what can be passed over by its number is reached by the token of the page before."""
    query = of(group, orders=(Order("name"),))
    first = platform.query(query, Page(size=5))

    far = platform.query(query, Page(size=5, token=first.next, number=MOST_PASSED_OVER))
    assert far.rows == platform.query(query, Page(size=5, token=first.next)).rows
    with pytest.raises(InvalidQuery):
        platform.query(query, Page(size=5, number=MOST_PASSED_OVER))


@pytest.mark.needs(Ability.LINKS)
def test_the_count_of_links_and_of_nothing(platform: Platform, group: str) -> None:
    owner = Link("systemuser", "systemuserid", "createdby", "u")
    assert platform.query(of(group, links=(owner,)), Page(size=3, total=True)).total == ROWS
    assert platform.query(of("nobody"), Page(size=3, total=True)).total == 0


def test_top_counts_no_more_than_it_gives(platform: Platform, group: str) -> None:
    assert platform.query(of(group, top=4), Page(total=True)).total == 4
    assert len(platform.query(of(group, top=6000)).rows) == ROWS


def test_a_token_belongs_to_its_query(platform: Platform, group: str) -> None:
    token = platform.query(of(group), Page(size=5)).next

    with pytest.raises(InvalidQuery):
        platform.query(of(group, columns=("name", "fax")), Page(size=5, token=token))
    with pytest.raises(InvalidQuery):
        platform.query(Query("contact", (Column("fullname"),), Filter()), Page(size=5, token=token))


def test_top_and_pages_exclude_each_other(platform: Platform, group: str) -> None:
    with pytest.raises(InvalidQuery):
        platform.query(of(group, top=4), Page(size=2))
    with pytest.raises(InvalidQuery):
        platform.query(of(group), Page(size=0))
