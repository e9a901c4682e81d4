"""Reading one record."""

from __future__ import annotations

import pytest

from crmclient import Platform
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownEntity
from tests.crmbox.shop import add_product

NOBODY = "11111111-1111-4111-8111-111111111111"


def test_only_the_columns_asked_for_come_back(platform: Platform) -> None:
    id = add_product(platform, quantity=3)

    record = platform.retrieve("shop_product", id.upper(), ["quantity", "name"])

    assert (record.entity, record.id) == ("shop_product", id)
    assert list(record.values) == ["quantity", "name"]


def test_unknown_columns_are_all_named(platform: Platform) -> None:
    id = add_product(platform)

    with pytest.raises(InvalidRecord) as raised:
        platform.retrieve("shop_product", id, ["name", "ghost", "spectre"])

    assert [problem.attribute for problem in raised.value.problems] == ["ghost", "spectre"]


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid", "' OR 1=1 --"])
def test_an_unknown_id_is_not_found(platform: Platform, id: str) -> None:
    with pytest.raises(RecordNotFound):
        platform.retrieve("shop_product", id, ["name"])


def test_an_unknown_entity_is_an_error_of_its_own(platform: Platform) -> None:
    with pytest.raises(UnknownEntity):
        platform.retrieve('shop_product"; --', NOBODY, [])
