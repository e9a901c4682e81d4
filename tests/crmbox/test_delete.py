"""Deleting records, and what happens to those that point at them."""

from __future__ import annotations

import pytest

from crmbox.engine.identities import ROOT_BUSINESS_UNIT, SERVICE_USER
from crmclient import Platform, Reference
from crmclient.errors import RecordNotFound, StateConflict, VersionMismatch
from tests.crmbox.shop import add_category, add_product, read

NOBODY = "11111111-1111-4111-8111-111111111111"


def gone(platform: Platform, entity: str, id: str) -> bool:
    try:
        platform.retrieve(entity, id, [])
    except RecordNotFound:
        return True
    return False


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid"])
def test_what_is_not_there_cannot_be_deleted(platform: Platform, id: str) -> None:
    with pytest.raises(RecordNotFound):
        platform.delete("shop_product", id)


def test_a_guarded_delete_needs_the_version_it_names(platform: Platform) -> None:
    created = platform.create("shop_product", {"name": "Lamp"})
    updated = platform.update("shop_product", created.id, {"quantity": 1})

    with pytest.raises(VersionMismatch):
        platform.delete("shop_product", created.id, if_version=created.version)
    assert not gone(platform, "shop_product", created.id)

    platform.delete("shop_product", created.id, if_version=updated.version)
    assert gone(platform, "shop_product", created.id)


def test_a_cascade_takes_the_children_and_their_children_along(platform: Platform) -> None:
    product, other = add_product(platform), add_product(platform)
    lines = [
        platform.create("shop_line", {"name": "1", "productid": Reference("shop_product", id)}).id
        for id in (product, product, other)
    ]

    platform.delete("shop_product", product)

    assert [gone(platform, "shop_line", line) for line in lines] == [True, True, False]


def test_a_restricting_relationship_keeps_the_record(platform: Platform) -> None:
    parent = add_category(platform)
    child = add_category(platform, "Lamps", parentid=parent)

    with pytest.raises(StateConflict, match="shop_category_parent"):
        platform.delete("shop_category", parent.id)

    assert not gone(platform, "shop_category", parent.id)
    platform.delete("shop_category", child.id)
    platform.delete("shop_category", parent.id)


def test_a_record_that_points_at_itself_can_be_deleted(platform: Platform) -> None:
    category = add_category(platform)
    platform.update("shop_category", category.id, {"parentid": category})

    platform.delete("shop_category", category.id)

    assert gone(platform, "shop_category", category.id)


def test_a_link_is_removed_and_the_record_has_another_version(platform: Platform) -> None:
    category = add_category(platform)
    product = add_product(platform, categoryid=category, buyerid=category)
    before = platform.retrieve("shop_product", product, []).version

    platform.delete("shop_category", category.id)

    record = platform.retrieve("shop_product", product, ["categoryid", "buyerid"])
    assert record.values == {"categoryid": None, "buyerid": None}
    assert record.version != before


def test_the_pairs_of_a_many_to_many_relationship_go_with_either_end(platform: Platform) -> None:
    product, person = add_product(platform), platform.create("shop_person", {"lastname": "King"}).id
    pair = platform.create("shop_productperson", {"shop_productid": product, "shop_personid": person}).id

    platform.delete("shop_person", person)

    assert gone(platform, "shop_productperson", pair)
    assert not gone(platform, "shop_product", product)


def test_notes_go_with_their_record(platform: Platform) -> None:
    product = add_product(platform)
    note = platform.create("annotation", {"subject": "Hi", "objectid": Reference("shop_product", product)}).id
    assert read(platform, note, "objectid", "annotation") is not None

    platform.delete("shop_product", product)

    assert gone(platform, "annotation", note)


def test_an_owner_stays_as_long_as_it_owns(platform: Platform) -> None:
    unit = Reference("businessunit", ROOT_BUSINESS_UNIT)
    user = platform.create("systemuser", {"lastname": "Rep", "businessunitid": unit}).id
    product = add_product(platform, ownerid=Reference("systemuser", user))

    with pytest.raises(StateConflict):
        platform.delete("systemuser", user)

    platform.delete("shop_product", product)
    platform.delete("systemuser", user)


@pytest.mark.parametrize(
    ("entity", "id"), [("systemuser", SERVICE_USER), ("businessunit", ROOT_BUSINESS_UNIT)]
)
def test_what_the_platform_itself_needs_stays(platform: Platform, entity: str, id: str) -> None:
    with pytest.raises(StateConflict):
        platform.delete(entity, id)
    with pytest.raises(RecordNotFound):
        platform.delete("shop_product", id)
