"""Indexes that somebody asks for: they change how soon rows are found, and never which."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient import Value
from crmclient.errors import InvalidDefinition
from crmclient.metadata import AlternateKey, AttributeType
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Order, Query
from tests.crmbox.asking import BOOK, books, run, walk, where
from tests.crmbox.library import Tables
from tests.crmbox.naive import evaluate
from tests.crmbox.shop import add_product, attribute

NOBODY = "00000000-0000-4000-8000-000000000000"
FILTERS: dict[str, FilterItem] = {
    "a piece": Condition("title", Operator.CONTAINS, ("pfel",)),
    "a piece of marks and other letters": Condition("title", Operator.CONTAINS, ("ÄPF",)),
    "signs": Condition("title", Operator.CONTAINS, ("O'Neill; D",)),
    "a piece that trigrams cannot find": Condition("title", Operator.CONTAINS, ("ss",)),
    "an ending": Condition("summary", Operator.ENDS_WITH, ("weiss",)),
    "a pattern": Condition("title", Operator.LIKE, ("%[a-b]pfel%bir_e%",)),
    "a negation": Condition("title", Operator.NOT_LIKE, ("%pfel%",)),
    "two pieces": where(
        Condition("title", Operator.CONTAINS, ("wolle",)), Condition("summary", Operator.NOT_NULL)
    ),
    "a piece or something else": where(
        Condition("title", Operator.CONTAINS, ("wolle",)), Condition("pages", Operator.EQ, (100,)), any=True
    ),
}


@pytest.fixture(scope="module")
def indexed(library: Tables) -> Tables:
    with change() as metadata:
        metadata.alter_indexes(BOOK, "title", indexed=False, searched=True)
        metadata.alter_indexes(BOOK, "summary", indexed=False, searched=True)
        metadata.alter_indexes(BOOK, "pages", indexed=True, searched=False)
    return library


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("most", [1000, 2])
def test_rows_are_the_same_with_an_index(
    indexed: Tables, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crmbox.engine.queries.MOST_SEARCHED", most)
    query = books(FILTERS[name], orders=(Order("pages"),))
    expected = evaluate(query, indexed)
    assert 0 < len(expected) < 70, "the query should tell rows apart"
    assert run(query).rows == expected
    assert walk(query, 7) == expected


def found(platform: EmbeddedPlatform, piece: str) -> list[str]:
    condition = Condition("notes", Operator.CONTAINS, (piece,))
    query = Query("shop_product", (Column("shop_productid"),), where(condition))
    return [str(row["shop_productid"]) for row in platform.query(query).rows]


def test_an_index_of_pieces_follows_every_write_until_it_is_taken_away(platform: EmbeddedPlatform) -> None:
    alias = platform._alias
    before = add_product(platform, notes="Bright silver lamp")
    for searched in (True, False):
        with change(alias) as metadata:
            metadata.alter_indexes("shop_product", "notes", indexed=False, searched=searched)
        assert found(platform, "silver") == [before]
        id = add_product(platform, notes="Dull copper lamp")
        assert found(platform, "copper") == [id]
        platform.update("shop_product", id, {"notes": "Dull golden lamp"})
        assert (found(platform, "copper"), found(platform, "golden")) == ([], [id])
        platform.update("shop_product", id, {"notes": None})
        assert found(platform, "golden") == []
        platform.update("shop_product", id, {"notes": "Dull copper lamp"})
        platform.delete("shop_product", id)
        assert found(platform, "copper") == []
    platform.delete("shop_product", before)


def test_what_is_deleted_takes_its_indexes_along(joined: EmbeddedPlatform) -> None:
    with change() as metadata:
        metadata.alter_indexes("shop_line", "name", indexed=False, searched=True)
        metadata.alter_indexes("shop_product", "notes", indexed=False, searched=True)
    for _ in range(2):
        with change() as metadata:
            metadata.delete_attribute("shop_product", "notes")
        with change() as metadata:
            metadata.create_attributes("shop_product", [attribute("notes", AttributeType.MEMO)])
        with change() as metadata:
            metadata.alter_indexes("shop_product", "notes", indexed=False, searched=True)
    with change() as metadata:
        metadata.delete_entity("shop_line")


def test_a_command_adds_an_index_and_removes_it(joined: EmbeddedPlatform) -> None:
    for words in (["quantity"], ["notes", "--contains"]):
        call_command("crmindex", "shop_product", *words, verbosity=0)
        call_command("crmindex", "shop_product", *words, "--remove", verbosity=0)
    with pytest.raises(CommandError, match="only text"):
        call_command("crmindex", "shop_product", "quantity", "--contains")
    for words in (["shop_product", "nothing"], ["nothing", "name"]):
        with pytest.raises(CommandError, match=r"here is no"):
            call_command("crmindex", *words)


@pytest.mark.parametrize(
    ("attribute", "indexed", "searched"),
    [("quantity", False, True), ("notes", True, False), ("tags", True, False), ("name", True, False)],
)
def test_an_index_that_cannot_be_or_is_there_already_is_refused(
    joined: EmbeddedPlatform, attribute: str, indexed: bool, searched: bool
) -> None:
    with pytest.raises(InvalidDefinition), change() as metadata:
        metadata.alter_indexes("shop_product", attribute, indexed=indexed, searched=searched)


@pytest.mark.sqlite
def test_the_indexes_that_are_told_of_are_those_that_queries_use(joined: EmbeddedPlatform) -> None:
    """PostgreSQL would read tables that are so small whole."""
    with change() as metadata:
        metadata.alter_indexes("shop_product", "quantity", indexed=True, searched=False)
        metadata.create_key("shop_product", AlternateKey("pair", ("serial", "price")))
    told = joined.indexes("shop_product")
    assert told is not None
    values: dict[str, Value] = {
        "shop_productid": NOBODY,
        "categoryid": NOBODY,
        "createdby": NOBODY,
        "name": "a",
        "code": "a",
        "quantity": 1,
        "serial": 1,
        "price": Decimal(1),
        "size": 1,
    }
    for name, value in values.items():
        found = _plan(joined, where(Condition(name, Operator.EQ, (value,))))
        assert (name in told.compared) == any("SEARCH" in step for step in found), (name, found)
        ordered = _plan(joined, None, Order(name))
        assert (name in told.sorted) == ("USE TEMP B-TREE FOR ORDER BY" not in ordered), (name, ordered)
    # With a value in each attribute of a key, its index is used.
    both = where(*(Condition(name, Operator.EQ, (values[name],)) for name in ("serial", "price")))
    assert any("SEARCH" in step for step in _plan(joined, both))
    for name in told.sortable - told.sorted:
        with change() as metadata:
            metadata.alter_indexes("shop_product", name, indexed=True, searched=False)
    assert "USE TEMP B-TREE FOR ORDER BY" not in _plan(joined, None, Order("serial"))


def _plan(platform: EmbeddedPlatform, filter: Filter | None, *orders: Order) -> list[str]:
    """How SQLite runs a query of products, step by step."""
    with CaptureQueriesContext(connection) as captured:
        platform.query(Query("shop_product", (Column("shop_productid"),), filter, orders=orders))
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured.captured_queries[-1]['sql']}")
        return [row[3] for row in cursor.fetchall()]
