"""Updating records: what is given is written, the rest is left alone, and nothing is ever created."""

from __future__ import annotations

import uuid

import pytest

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmclient import Call, Platform, Reference
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound, VersionMismatch
from tests.crmbox.shop import add_category, add_product, read

NOBODY = "11111111-1111-4111-8111-111111111111"


def test_only_what_is_given_changes(platform: Platform) -> None:
    id = add_product(platform, notes="old", quantity=3)

    platform.update("shop_product", id, {"notes": "new"})

    assert platform.retrieve("shop_product", id, ["name", "notes", "quantity"]).values == {
        "name": "Lamp",
        "notes": "new",
        "quantity": 3,
    }


def test_none_clears(platform: Platform) -> None:
    category = add_category(platform)
    id = add_product(platform, notes="old", categoryid=category, buyerid=category)

    platform.update("shop_product", id, {"notes": None, "categoryid": None, "buyerid": None})

    assert platform.retrieve("shop_product", id, ["notes", "categoryid", "buyerid"]).values == {
        "notes": None,
        "categoryid": None,
        "buyerid": None,
    }


def test_a_required_attribute_cannot_be_cleared(platform: Platform) -> None:
    id = add_product(platform)

    with pytest.raises(InvalidRecord) as raised:
        platform.update("shop_product", id, {"name": None, "ownerid": None})

    assert {(p.attribute, p.code) for p in raised.value.problems} == {
        ("name", "required"),
        ("ownerid", "required"),
    }
    assert read(platform, id, "name") == "Lamp"


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid"])
def test_an_update_never_creates(platform: Platform, id: str) -> None:
    with pytest.raises(RecordNotFound):
        platform.update("shop_product", id, {"name": "Lamp"})


def test_every_write_gives_another_version(platform: Platform) -> None:
    created = platform.create("shop_product", {"name": "Lamp"})

    updated = platform.update("shop_product", created.id, {"quantity": 1})

    assert int(updated.version or 0) > int(created.version or 0)
    assert platform.retrieve("shop_product", created.id, []).version == updated.version


def test_a_guarded_update_needs_the_version_it_names(platform: Platform) -> None:
    created = platform.create("shop_product", {"name": "Lamp"})
    updated = platform.update("shop_product", created.id, {"quantity": 1}, if_version=created.version)

    with pytest.raises(VersionMismatch):
        platform.update("shop_product", created.id, {"quantity": 2}, if_version=created.version)

    assert read(platform, created.id, "quantity") == 1
    platform.update("shop_product", created.id, {"quantity": 2}, if_version=updated.version)


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 30, "٣"])
def test_a_version_that_no_record_can_have_is_a_mismatch(platform: Platform, version: str) -> None:
    id = add_product(platform)

    with pytest.raises(VersionMismatch):
        platform.update("shop_product", id, {"quantity": 2}, if_version=version)


def test_a_guarded_update_of_nothing_is_not_found(platform: Platform) -> None:
    with pytest.raises(RecordNotFound):
        platform.update("shop_product", NOBODY, {"quantity": 2}, if_version="1")


def test_the_id_cannot_be_changed(platform: Platform) -> None:
    id = add_product(platform)

    with pytest.raises(InvalidRecord):
        platform.update("shop_product", id, {"shop_productid": NOBODY})


def test_a_joined_value_follows_one_of_its_parts(platform: Platform) -> None:
    id = platform.create("shop_person", {"firstname": "Ada", "lastname": "King"}).id

    platform.update("shop_person", id, {"lastname": "Lovelace"})
    assert read(platform, id, "fullname", "shop_person") == "Ada Lovelace"

    platform.update("shop_person", id, {"firstname": None})
    assert read(platform, id, "fullname", "shop_person") == "Lovelace"


def test_an_alternate_key_stays_unique(platform: Platform) -> None:
    code = str(uuid.uuid4())[:20]
    add_product(platform, code=code)
    other = add_product(platform)

    with pytest.raises(DuplicateKey) as raised:
        platform.update("shop_product", other, {"code": code})

    assert raised.value.key == "shop_code"


def test_who_changed_a_record_is_noted(platform: Platform) -> None:
    unit = Reference("businessunit", ROOT_BUSINESS_UNIT)
    user = platform.create("systemuser", {"lastname": "Rep", "businessunitid": unit}).id
    id = add_product(platform)

    platform.update("shop_product", id, {"quantity": 1}, call=Call(caller=user))

    assert read(platform, id, "modifiedby") == Reference("systemuser", user, "Rep")
    assert read(platform, id, "createdby") != read(platform, id, "modifiedby")


def test_a_new_owner_brings_its_business_unit(platform: Platform) -> None:
    unit = platform.create("businessunit", {"name": "West"}).id
    user = platform.create(
        "systemuser", {"lastname": "Rep", "businessunitid": Reference("businessunit", unit)}
    ).id
    id = add_product(platform)

    platform.update("shop_product", id, {"ownerid": Reference("systemuser", user)})

    assert read(platform, id, "owningbusinessunit") == Reference("businessunit", unit, "West")


def test_a_lookup_moves_from_one_entity_to_another(platform: Platform) -> None:
    person = Reference("shop_person", platform.create("shop_person", {"lastname": "King"}).id)
    id = add_product(platform, buyerid=add_category(platform))

    platform.update("shop_product", id, {"buyerid": person})

    assert read(platform, id, "buyerid") == Reference("shop_person", person.id, "King")


def test_an_update_of_nothing_still_counts_as_one(platform: Platform) -> None:
    created = platform.create("shop_product", {"name": "Lamp"})

    assert platform.update("shop_product", created.id, {}).version != created.version
