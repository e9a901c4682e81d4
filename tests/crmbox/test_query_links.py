"""Links: inner, outer, nested, on any pair of attributes, page by page."""

from __future__ import annotations

import pytest

from crmclient.query.ast import Column, Condition, Link, LinkType, Operator, Order, Query
from tests.crmbox.asking import AUTHOR, BOOK, READER, author, books, run, walk, where, written
from tests.crmbox.library import Tables
from tests.crmbox.naive import evaluate

pytestmark = pytest.mark.django_db

NAME, CITY = Column("name"), Column("city")
LINKS: dict[str, Query] = {
    "inner": books(links=(author(NAME, Column("city", "town")),)),
    "outer": books(links=(author(NAME, type=LinkType.OUTER),)),
    "outer with a filter": books(
        links=(author(CITY, type=LinkType.OUTER, filter=where(Condition("city", Operator.EQ, ("koln",)))),)
    ),
    "anti join": books(
        Condition("lib_authorid", Operator.NULL, link="a"),
        links=(author(type=LinkType.OUTER, filter=where(Condition("age", Operator.EQ, (30,)))),),
    ),
    "many for one": Query(AUTHOR, (NAME,), links=(written(Column("title")),)),
    "many for one, sorted by the many": Query(
        AUTHOR,
        (NAME,),
        links=(written(Column("price"), type=LinkType.OUTER),),
        orders=(Order("price", link="b", descending=True), Order("city")),
    ),
    "many with many": Query(
        AUTHOR,
        (NAME, CITY),
        links=(Link(READER, "city", "city", "r", columns=(NAME, CITY)),),
        orders=(Order("city"), Order("name", link="r", descending=True)),
    ),
    "nested": Query(
        READER,
        (NAME,),
        links=(
            Link(
                BOOK,
                "holderid",
                "lib_readerid",
                "b",
                type=LinkType.OUTER,
                columns=(Column("holderid"),),
                filter=where(Condition("pages", Operator.NOT_NULL)),
                links=(author(NAME, type=LinkType.OUTER, filter=where(Condition("age", Operator.NOT_NULL))),),
            ),
        ),
    ),
    "inner inside outer": Query(
        READER,
        (NAME,),
        links=(Link(BOOK, "holderid", "lib_readerid", "b", type=LinkType.OUTER, links=(author(NAME),)),),
    ),
    "the same link twice": books(
        where(
            Condition("city", Operator.NE, link="a", value_of=("h", "city")),
            Condition("age", Operator.GT, (30,), link="h"),
            any=True,
        ),
        links=(
            author(type=LinkType.OUTER),
            author(Column("name", "holder"), to="holderid", alias="h", type=LinkType.OUTER),
        ),
        orders=(Order("name", link="h"), Order("title")),
    ),
    "a link compared with its parent": books(
        links=(author(filter=where(Condition("name", Operator.GT, value_of=("lib_book", "title")))),)
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_links_give_the_rows_they_describe_page_by_page(library: Tables, name: str) -> None:
    query = LINKS[name]
    expected = evaluate(query, library)
    assert len(expected) > 1
    assert run(query).rows == expected
    for size in (1, 5):
        assert walk(query, size) == expected
