"""Create, retrieve, update, delete: what is stored and what comes back."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

import pytest

from crmclient import Platform, Reference, Value
from crmclient.errors import RecordNotFound
from tests.contract.making import account, contact, read


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", "Ünïcode 漢字 🚀 \"quoted\" 'single' <b>&amp;</b> \\ / %41"),
        ("description", "two\nlines\tand a tab"),
        ("revenue", Decimal("922337203685477.5807")),
        ("revenue", Decimal("0.0001")),
        ("new_discount", Decimal("12.3456789012")),
        ("numberofemployees", 1_000_000_000),
        ("new_legacynumber", 2**63 - 1),
        ("new_legacynumber", -(2**63)),
        ("address1_latitude", 47.123456),
        ("donotemail", True),
        ("industrycode", 1),
        ("new_interests", (100000001, 100000003)),
        ("new_customersince", dt.date(1999, 12, 31)),
        ("statecode", 1),
    ],
)
def test_a_value_of_every_type_comes_back_as_it_was(platform: Platform, attribute: str, value: Value) -> None:
    id = account(platform, **{attribute: value})

    stored_value = read(platform, "account", id, attribute)

    assert stored_value == value
    assert type(stored_value) is type(value)


@pytest.mark.needs("moments that are given")
def test_a_moment_comes_back_in_utc(platform: Platform) -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    id = account(platform, overriddencreatedon=dt.datetime(2020, 6, 1, 12, tzinfo=zone))

    assert read(platform, "account", id, "createdon") == dt.datetime(2020, 6, 1, 10, tzinfo=dt.UTC)


def test_a_lookup_comes_back_with_the_name_of_what_it_points_at(platform: Platform) -> None:
    ada = contact(platform)
    id = account(platform, primarycontactid=ada)

    assert read(platform, "account", id, "primarycontactid") == Reference("contact", ada.id, "Ada Lovelace")


@pytest.mark.needs("lookups of several entities")
@pytest.mark.parametrize("target", ["account", "contact"])
def test_a_polymorphic_lookup_says_what_it_points_at(platform: Platform, target: str) -> None:
    customer = Reference("account", account(platform)) if target == "account" else contact(platform)

    id = platform.create("incident", {"title": "It rattles", "customerid": customer}).id

    reference = read(platform, "incident", id, "customerid")
    assert isinstance(reference, Reference)
    assert (reference.entity, reference.id) == (customer.entity, customer.id)


@pytest.mark.needs("teams")
def test_an_owner_may_be_a_user_or_a_team(platform: Platform) -> None:
    user = platform.user(platform.who())
    unit = Reference("businessunit", user.business_unit_id)
    team = platform.create("team", {"name": "Testers", "businessunitid": unit}).id
    id = account(platform, ownerid=Reference("team", team))

    assert read(platform, "account", id, "ownerid") == Reference("team", team, "Testers")

    platform.update("account", id, {"ownerid": Reference("systemuser", user.id)})
    owner = read(platform, "account", id, "ownerid")
    assert isinstance(owner, Reference)
    assert (owner.entity, owner.id) == ("systemuser", user.id)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("telephone1", "+49 30 1234"),
        ("revenue", Decimal("5")),
        ("industrycode", 1),
        ("new_interests", (100000001,)),
        ("new_customersince", dt.date(2020, 1, 1)),
        ("donotemail", True),
    ],
)
def test_none_clears_a_value(platform: Platform, attribute: str, value: Value) -> None:
    id = account(platform, **{attribute: value})

    platform.update("account", id, {attribute: None})

    assert read(platform, "account", id, attribute) is None


def test_none_clears_a_lookup_of_either_kind(platform: Platform) -> None:
    ada = contact(platform)
    id = account(platform, primarycontactid=ada)
    child = contact(platform, parentcustomerid=Reference("account", id))

    platform.update("account", id, {"primarycontactid": None})
    platform.update("contact", child.id, {"parentcustomerid": None})

    assert read(platform, "account", id, "primarycontactid") is None
    assert read(platform, "contact", child.id, "parentcustomerid") is None


@pytest.mark.needs("multi-select choices")
def test_an_empty_text_and_an_empty_choice_are_empty_values(platform: Platform) -> None:
    id = account(platform, telephone1="", new_interests=())

    record = platform.retrieve("account", id, ["telephone1", "new_interests"])

    assert record.values == {"telephone1": None, "new_interests": None}


def test_a_caller_may_choose_the_id(platform: Platform) -> None:
    id = str(uuid.uuid4())

    assert platform.create("account", {"name": "Chosen"}, id=id).id == id
    assert (
        platform.create("account", {"name": "Chosen too", "accountid": (other := str(uuid.uuid4()))}).id
        == other
    )
    assert platform.retrieve("account", id, ["name"]).values == {"name": "Chosen"}


def test_ids_are_taken_in_any_form_and_given_in_one(platform: Platform) -> None:
    id = account(platform)

    record = platform.retrieve("account", "{" + id.upper() + "}", ["accountid"])

    assert (record.id, record.values) == (id, {"accountid": id})


def test_each_write_leaves_a_new_version(platform: Platform) -> None:
    created = platform.create("account", {"name": "First"})
    updated = platform.update("account", created.id, {"name": "Second"})

    assert created.version != updated.version
    assert platform.retrieve("account", created.id, []).version == updated.version
    assert platform.update("account", created.id, {"fax": "1"}, if_version=updated.version).id == created.id


def test_an_update_leaves_alone_what_it_does_not_name(platform: Platform) -> None:
    id = account(platform, telephone1="1", fax="2")

    platform.update("account", id, {"fax": "3"})

    assert platform.retrieve("account", id, ["telephone1", "fax"]).values == {"telephone1": "1", "fax": "3"}


def test_an_update_of_nothing_is_no_error(platform: Platform) -> None:
    id = account(platform)

    assert platform.update("account", id, {}).id == id


def test_a_deleted_record_is_gone(platform: Platform) -> None:
    id = account(platform)

    platform.delete("account", id)

    with pytest.raises(RecordNotFound):
        platform.retrieve("account", id, [])


@pytest.mark.needs("a status beside the state")
def test_a_state_brings_its_status(platform: Platform) -> None:
    id = account(platform)

    platform.update("account", id, {"statecode": 1})

    assert platform.retrieve("account", id, ["statecode", "statuscode"]).values == {
        "statecode": 1,
        "statuscode": 2,
    }
