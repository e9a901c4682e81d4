"""Reads and writes that may be one statement: they see what any other would."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connections

from crmbox.engine.connection import read_unit, write_unit
from crmbox.metadata import change
from crmbox.records.delete import delete
from crmbox.records.update import update
from crmclient import Platform, Reference
from crmclient.errors import DuplicateKey, InvalidQuery, InvalidRecord, RecordNotFound, VersionMismatch
from crmclient.metadata import AttributeType
from crmclient.query.ast import Column, Condition, Filter, Operator, Order, Page, Query
from crmclient.values import Guid, Stored
from tests.crmbox.conftest import APART
from tests.crmbox.shop import add_category, add_product, attribute, read

PRODUCT = "shop_product"


def begun(pool: ThreadPoolExecutor, platform: Platform, id: Guid, **values: object) -> Future[Stored]:
    """An update by another connection, which has come as far as it can."""
    started = threading.Event()

    def write() -> Stored:
        try:
            read(platform, id, "name")
            started.set()
            return platform.update(PRODUCT, id, values)  # type: ignore[arg-type]
        finally:
            connections[APART].close()

    task = pool.submit(write)
    assert started.wait(10)
    return task


def test_a_record_that_a_writer_is_deleting_cannot_be_pointed_at(apart: Platform) -> None:
    category = add_category(apart, f"Going {uuid4().hex}")
    id = add_product(apart)

    with ThreadPoolExecutor(1) as pool:
        with write_unit(APART) as unit:
            delete(unit, "shop_category", category.id)
            waiting = begun(pool, apart, id, categoryid=Reference("shop_category", category.id))
        with pytest.raises(InvalidRecord):
            waiting.result(30)
    assert read(apart, id, "categoryid") is None


def test_a_write_that_waited_for_another_has_the_later_version(apart: Platform) -> None:
    id = add_product(apart)

    with ThreadPoolExecutor(1) as pool:
        with write_unit(APART) as unit:
            first = update(unit, PRODUCT, id, {"quantity": 1})
            waiting = begun(pool, apart, id, quantity=2)
        assert int(waiting.result(30).version or 0) > int(first.version or 0)
    assert read(apart, id, "quantity") == 2


def test_versions_grow_from_one_write_to_the_next(apart: Platform) -> None:
    id = add_product(apart)
    versions = [int(apart.update(PRODUCT, id, {"quantity": number}).version or 0) for number in range(5)]
    versions.append(int(apart.create("shop_line", {"name": "x"}).version or 0))
    assert versions == sorted(set(versions))
    assert apart.retrieve(PRODUCT, id, []).version == str(versions[4])


def test_another_version_than_the_one_meant_is_not_written_over(apart: Platform) -> None:
    id = add_product(apart, quantity=1)
    meant = apart.retrieve(PRODUCT, id, []).version
    apart.update(PRODUCT, id, {"quantity": 2}, if_version=meant)
    with pytest.raises(VersionMismatch):
        apart.update(PRODUCT, id, {"quantity": 3}, if_version=meant)
    assert read(apart, id, "quantity") == 2


def test_nothing_is_written_to_a_record_that_is_not_there(apart: Platform) -> None:
    with pytest.raises(RecordNotFound):
        apart.update(PRODUCT, str(uuid4()), {"quantity": 3})


def test_a_record_is_not_made_twice(apart: Platform) -> None:
    id = add_product(apart)
    with pytest.raises(DuplicateKey):
        apart.create(PRODUCT, {"name": "Lamp"}, id=id)


def test_a_column_that_was_removed_is_not_written_any_more(apart: Platform) -> None:
    """Whatever the process knew of it a moment ago."""
    name = f"brief_{uuid4().hex[:10]}"
    with change(APART) as metadata:
        metadata.create_attributes(PRODUCT, [attribute(name, AttributeType.INTEGER)])
    id = add_product(apart, **{name: 7})
    with change(APART) as metadata:
        metadata.delete_attribute(PRODUCT, name)
    with pytest.raises(InvalidRecord):
        apart.update(PRODUCT, id, {name: 8})


def test_a_read_of_an_attribute_that_is_gone_never_shows_what_its_column_holds_now(apart: Platform) -> None:
    with change(APART) as metadata:
        metadata.create_attributes(PRODUCT, [attribute("before", AttributeType.BIGINT)])
    id = add_product(apart, before=1)
    query = Query(PRODUCT, (Column("before"),), Filter((Condition("before", Operator.NOT_NULL),)))
    assert (read(apart, id, "before"), apart.query(query).rows) == (1, [{"before": 1}])
    with read_unit(APART) as unit:
        column = unit.snapshot.entity(PRODUCT).columns["before"].name

    with change(APART) as metadata:
        metadata.delete_attribute(PRODUCT, "before")
        metadata.create_attributes(PRODUCT, [attribute("after", AttributeType.BIGINT)])
    # As another process would write it: nothing here has seen the new metadata.
    with connections[APART].cursor() as cursor:
        cursor.execute(f"UPDATE e_shop_product SET {column} = 2")
    with pytest.raises(InvalidQuery):
        apart.query(query)
    with pytest.raises(InvalidRecord):
        read(apart, id, "before")
    assert read(apart, id, "after") == 2
    with change(APART) as metadata:
        metadata.delete_attribute(PRODUCT, "after")


@pytest.mark.postgresql
def test_a_read_a_page_with_its_total_and_a_write_are_one_trip_to_postgresql(
    apart: Platform, tmp_path: Path
) -> None:
    category = add_category(apart)
    id = add_product(apart, code=f"T{uuid4().hex[:8]}")
    query = Query(PRODUCT, (Column("name"),), orders=(Order("name"),))
    trips = Trips(tmp_path / "wire")
    assert trips.of(lambda: read(apart, id, "name")) == 1
    assert trips.of(lambda: apart.query(query, Page(size=1, total=True))) == 1
    assert trips.of(lambda: apart.query(query, Page(size=1))) == 1
    assert trips.of(lambda: add_product(apart, categoryid=category)) == 1
    assert trips.of(lambda: apart.update(PRODUCT, id, {"quantity": 3})) == 1


class Trips:
    """Counts how often PostgreSQL is waited for, by what libpq says of the wire."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, work: Callable[[], object]) -> int:
        # Once before, so that what the process learns by it is known.
        work()
        wire = connections[APART].connection.pgconn
        with self._file.open("w") as file:
            wire.trace(file.fileno())
            work()
            wire.untrace()
        directions = [line.split("\t")[1] for line in self._file.read_text().splitlines()]
        return sum(pair == ("F", "B") for pair in pairwise(directions))
