"""Links that join nothing, links to one record, and hierarchies: against the same in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import InvalidQuery
from crmclient.query.ast import (
    Column,
    Condition,
    Filter,
    FilterItem,
    Link,
    LinkType,
    Operator,
    Order,
    Page,
    Query,
)
from crmclient.query.families import OF_RECORDS_HIERARCHY
from crmclient.values import Reference
from tests.crmbox.asking import AUTHOR, BOOK, READER, books, run, walk, where, written
from tests.crmbox.library import Tables
from tests.crmbox.naive import evaluate

pytestmark = pytest.mark.django_db

NAME = Column("name")
IN_FILTERS = [type for type in LinkType if type.stands_in_filter]
BESIDE_FILTERS = [type for type in LinkType if not type.stands_in_filter]
FOLLOWING = sorted(OF_RECORDS_HIERARCHY, key=lambda each: each.value)
LONG = where(Condition("pages", Operator.GE, (100,)))
NOBODY = "00000000-0000-4000-8000-00000000dead"


@pytest.mark.parametrize("type", IN_FILTERS)
@pytest.mark.parametrize("filter", [None, LONG, where(Condition("pages", Operator.NULL))])
def test_a_link_in_a_filter_keeps_rows_by_what_there_is(
    library: Tables, type: LinkType, filter: Filter | None
) -> None:
    query = Query(AUTHOR, (NAME,), where(written(type=type, filter=filter)))
    assert run(query).rows == evaluate(query, library)


@pytest.mark.parametrize("type", [LinkType.EXISTS, LinkType.IN])
def test_a_link_that_joins_nothing_gives_each_row_once(library: Tables, type: LinkType) -> None:
    query = Query(AUTHOR, (NAME,), links=(written(type=type, filter=LONG),))
    expected = evaluate(query, library)
    joined = evaluate(Query(AUTHOR, (NAME,), links=(written(filter=LONG),)), library)
    assert 0 < len(expected) < len(joined)
    assert run(query).rows == expected
    assert walk(query, 2) == expected


def test_one_record_of_many_is_joined(library: Tables) -> None:
    first = written(Column("title"), type=LinkType.FIRST, filter=LONG)
    query = Query(AUTHOR, (NAME,), links=(first,), orders=(Order("title", link="b"),))
    expected = evaluate(query, library)
    some = evaluate(Query(AUTHOR, links=(written(type=LinkType.IN, filter=LONG),)), library)
    assert len(expected) == len(some)
    assert run(query).rows == expected
    assert walk(query, 2) == expected


@pytest.mark.parametrize("operator", FOLLOWING)
@pytest.mark.parametrize("attribute", ["lib_authorid", "mentorid"])
def test_hierarchies_are_followed_up_and_down(library: Tables, operator: Operator, attribute: str) -> None:
    sizes = set()
    for row in library[AUTHOR]:
        query = Query(AUTHOR, (NAME,), where(Condition(attribute, operator, (row["lib_authorid"],))))
        expected = evaluate(query, library)
        assert run(query).rows == expected
        sizes.add(len(expected))
    assert len(sizes) > 1


@pytest.mark.parametrize("attribute", ["authorid", "holderid"])
def test_a_lookup_is_followed_from_the_record_that_it_names(library: Tables, attribute: str) -> None:
    top = library[AUTHOR][0]["lib_authorid"]
    for operator in FOLLOWING:
        query = books(Condition(attribute, operator, (top,)))
        assert run(query).rows == evaluate(query, library)


def test_records_in_a_circle_end_the_search(library: Tables) -> None:
    first, *_, last = (str(row["lib_authorid"]) for row in library[AUTHOR])
    EmbeddedPlatform().update(AUTHOR, first, {"mentorid": Reference(AUTHOR, last)})
    for operator in FOLLOWING:
        rows = run(Query(AUTHOR, (NAME,), where(Condition("lib_authorid", operator, (last,))))).rows
        assert len(rows) < len(library[AUTHOR])


def test_a_record_that_is_not_there_has_nothing_above_or_below_it(library: Tables) -> None:
    for operator in FOLLOWING:
        rows = run(Query(AUTHOR, (NAME,), where(Condition("lib_authorid", operator, (NOBODY,))))).rows
        assert len(rows) == (len(library[AUTHOR]) if operator is Operator.NOT_UNDER else 0)


def test_a_page_is_found_by_its_number(library: Tables) -> None:
    query = Query(BOOK, (Column("title"),), orders=(Order("price"),))
    expected = evaluate(query, library)
    for number in range(1, 9):
        result = run(query, Page(10, number=number, total=True))
        assert result.rows == expected[10 * (number - 1) : 10 * number]
        assert result.total == 70
        assert (result.next is not None) == (number < 7)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query(AUTHOR, (NAME,), where(written(Column("title"), type=LinkType.ANY))), "gives no columns"),
        (
            Query(AUTHOR, (NAME,), links=(written(type=LinkType.IN),), orders=(Order("title", link="b"),)),
            "no columns to sort by",
        ),
        (
            Query(
                AUTHOR,
                (NAME,),
                where(Condition("title", Operator.NULL, link="b"), written(type=LinkType.NOT_ANY)),
            ),
            "cannot be named outside",
        ),
        (books(Condition("lib_bookid", Operator.UNDER, (NOBODY,))), "form no hierarchy"),
        (books(Condition("title", Operator.UNDER, ("x",))), "does not apply"),
    ],
)
def test_what_cannot_be_meant_is_refused(library: Tables, query: Query, message: str) -> None:
    with pytest.raises(InvalidQuery, match=message):
        run(query)


_OF_PERSONS = (
    Condition("age", Operator.EQ, (30,)),
    Condition("age", Operator.NE, (40,)),
    Condition("city", Operator.EQ, ("koln",)),
    Condition("city", Operator.NULL),
)
_OF_BOOKS = (
    Condition("pages", Operator.EQ, (100,)),
    Condition("pages", Operator.NE, (100,)),
    Condition("printed", Operator.EQ, (True,)),
    Condition("genre", Operator.IN, (1, 3)),
    Condition("price", Operator.NULL),
)
_FOLLOWED = {BOOK: ("authorid", "holderid"), AUTHOR: ("lib_authorid", "mentorid"), READER: ()}
_PATHS = {
    AUTHOR: [
        (BOOK, "authorid", "lib_authorid"),
        (BOOK, "holderid", "lib_authorid"),
        (AUTHOR, "mentorid", "lib_authorid"),
        (AUTHOR, "lib_authorid", "mentorid"),
        (READER, "city", "city"),
    ],
    READER: [(BOOK, "holderid", "lib_readerid"), (AUTHOR, "age", "age")],
    BOOK: [
        (AUTHOR, "lib_authorid", "authorid"),
        (READER, "lib_readerid", "holderid"),
        (BOOK, "authorid", "authorid"),
    ],
}


class Drawing:
    """Draws parts of queries on the library, each link under another alias."""

    def __init__(self, data: st.DataObject, library: Tables) -> None:
        self.draw = data.draw
        self._ids = [str(row["lib_authorid"]) for row in library[AUTHOR]][:5]
        self._names = (f"l{number}" for number in itertools.count())

    def conditions(self, entity: str) -> st.SearchStrategy[list[FilterItem]]:
        followed = [
            Condition(attribute, operator, (id,))
            for attribute in _FOLLOWED[entity]
            for operator in FOLLOWING
            for id in self._ids
        ]
        plain = st.sampled_from(_OF_BOOKS if entity == BOOK else _OF_PERSONS)
        return st.lists(plain | st.sampled_from(followed) if followed else plain, max_size=2)

    def filter(self, entity: str, deep: int) -> Filter:
        items = [*self.draw(self.conditions(entity)), *self._inside(entity, deep)]
        return Filter(tuple(items), self.draw(st.booleans()))

    def _inside(self, entity: str, deep: int) -> Iterator[FilterItem]:
        if deep and self.draw(st.booleans()):
            yield self.link(entity, deep - 1, IN_FILTERS, shows=False)
        if deep and self.draw(st.booleans()):
            yield self.filter(entity, deep - 1)

    def link(self, parent: str, deep: int, types: list[LinkType], *, shows: bool) -> Link:
        entity, from_, to = self.draw(st.sampled_from(_PATHS[parent]))
        type = self.draw(st.sampled_from(types))
        shows = shows and type.joins
        nested = deep and self.draw(st.booleans())
        return Link(
            entity,
            from_,
            to,
            next(self._names),
            type,
            (Column("title" if entity == BOOK else "name"),) if shows and self.draw(st.booleans()) else (),
            self.filter(entity, deep) if self.draw(st.booleans()) else None,
            (self.link(entity, deep - 1, BESIDE_FILTERS, shows=shows),) if nested else (),
        )


@given(st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_combined_gives_the_rows_of_plain_python(library: Tables, data: st.DataObject) -> None:
    drawing = Drawing(data, library)
    entity = data.draw(st.sampled_from([AUTHOR, READER, BOOK]))
    links = [drawing.link(entity, 1, BESIDE_FILTERS, shows=True) for _ in range(data.draw(st.integers(0, 2)))]
    columns = (Column(f"{entity}id"), Column("title" if entity == BOOK else "name"))
    query = Query(entity, columns, drawing.filter(entity, 2), tuple(links), distinct=data.draw(st.booleans()))
    expected = evaluate(query, library)
    if query.distinct:
        key = f"{entity}id"
        assert len(run(query).rows) == len(expected)
        assert {row[key] for row in run(query).rows} == {row[key] for row in expected}
        return
    assert run(query).rows == expected
    assert walk(query, 40) == expected
