"""Writes that may be one statement: they see what any other write would."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connections

from crmbox.engine.connection import write_unit
from crmbox.metadata import change
from crmbox.records.delete import delete
from crmbox.records.update import update
from crmclient import Platform, Reference
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound, VersionMismatch
from crmclient.metadata import AttributeType
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
