"""Batches: all of it, or none."""

from __future__ import annotations

import time
import uuid

import pytest

from crmclient import Call, Create, Delete, Platform, Reference, Update
from crmclient.errors import DeadlineExceeded, InvalidRecord, RecordNotFound
from tests.crmbox.shop import add_product, read


def test_an_item_may_point_at_what_an_earlier_one_creates(platform: Platform) -> None:
    category = str(uuid.uuid4())

    stored = platform.batch(
        [
            Create("shop_category", {"name": "Lights"}, id=category),
            Create("shop_product", {"name": "Lamp", "categoryid": Reference("shop_category", category)}),
        ]
    )

    assert stored[1] is not None
    assert read(platform, stored[1].id, "categoryid") == Reference("shop_category", category, "Lights")


def test_each_operation_has_its_answer(platform: Platform) -> None:
    first, second = add_product(platform), add_product(platform)

    created, updated, deleted = platform.batch(
        [
            Create("shop_product", {"name": "New"}),
            Update("shop_product", first, {"quantity": 7}),
            Delete("shop_product", second),
        ]
    )

    assert created is not None
    assert updated is not None
    assert updated.id == first
    assert read(platform, first, "quantity") == 7
    assert deleted is None


def test_one_wrong_item_leaves_nothing_behind(platform: Platform) -> None:
    id, kept = str(uuid.uuid4()), add_product(platform)

    with pytest.raises(InvalidRecord) as raised:
        platform.batch(
            [
                Create("shop_product", {"name": "Lamp"}, id=id),
                Delete("shop_product", kept),
                Create("shop_product", {"name": "x" * 51}),
            ]
        )

    assert raised.value.item == 2
    with pytest.raises(RecordNotFound):
        platform.retrieve("shop_product", id, [])
    assert read(platform, kept, "name") == "Lamp"


def test_a_deadline_that_has_passed_stops_before_anything_happens(platform: Platform) -> None:
    id = str(uuid.uuid4())

    with pytest.raises(DeadlineExceeded):
        platform.create("shop_product", {"name": "Lamp"}, id=id, call=Call(deadline=time.monotonic()))

    with pytest.raises(RecordNotFound):
        platform.retrieve("shop_product", id, [])


def test_an_error_outside_a_batch_belongs_to_no_item(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create("shop_product", {"name": "x" * 51})

    assert raised.value.item is None


def test_an_empty_batch_has_no_answers(platform: Platform) -> None:
    assert platform.batch([]) == []
