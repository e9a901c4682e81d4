"""What goes wrong, by the same error on every platform."""

from __future__ import annotations

import time
import uuid
from decimal import Decimal

import pytest

from crmclient import Call, Platform, Reference, Value
from crmclient.errors import (
    AccessDenied,
    DeadlineExceeded,
    DuplicateKey,
    InvalidQuery,
    InvalidRecord,
    RecordNotFound,
    StateConflict,
    UnknownEntity,
    UnknownOptionSet,
    UnknownProcess,
    VersionMismatch,
)
from crmclient.query.ast import Column, Condition, Filter, Link, Operator, Order, Page, Query
from tests.contract.making import NOBODY, account

ROOT_UNIT = "00000000-0000-4000-8000-000000000001"


def problems(error: InvalidRecord) -> set[tuple[str, str]]:
    return {(problem.attribute, problem.code) for problem in error.problems}


def test_a_long_text_in_place_of_an_id_is_not_quoted_whole(platform: Platform) -> None:
    id = account(platform, name="Contoso")
    with pytest.raises(InvalidRecord) as raised:
        platform.update("account", id, {"primarycontactid": Reference("contact", "x" * 5_000)})
    assert problems(raised.value) == {("primarycontactid", "wrong_type")}
    assert len(str(raised.value)) < 200


def test_an_unknown_entity(platform: Platform) -> None:
    for call in (
        lambda: platform.create("nothing", {}),
        lambda: platform.retrieve("nothing", NOBODY, []),
        lambda: platform.update("nothing", NOBODY, {}),
        lambda: platform.delete("nothing", NOBODY),
        lambda: platform.query(Query("nothing")),
        lambda: platform.attributes("nothing"),
        lambda: platform.relationships("nothing"),
        lambda: platform.option_set("x", entity="nothing"),
        lambda: platform.download("nothing", NOBODY, "x"),
    ):
        with pytest.raises(UnknownEntity) as raised:
            call()
        assert raised.value.entity == "nothing"


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid", ""])
def test_a_record_that_is_not_there(platform: Platform, id: str) -> None:
    for call in (
        lambda: platform.retrieve("account", id, ["name"]),
        lambda: platform.update("account", id, {"name": "x"}),
        lambda: platform.update("account", id, {"name": "x"}, if_version="1"),
        lambda: platform.delete("account", id),
        lambda: platform.delete("account", id, if_version="1"),
        lambda: platform.download("account", id, "new_contract"),
        lambda: platform.user(id),
    ):
        with pytest.raises(RecordNotFound):
            call()


def test_an_update_never_creates(platform: Platform) -> None:
    id = str(uuid.uuid4())
    with pytest.raises(RecordNotFound) as raised:
        platform.update("account", id, {"name": "x"})
    assert (raised.value.entity, raised.value.id) == ("account", id)
    with pytest.raises(RecordNotFound):
        platform.retrieve("account", id, [])


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        ("nothing", 1, "unknown_attribute"),
        ("Name", "x", "unknown_attribute"),
        ("_primarycontactid_value", NOBODY, "unknown_attribute"),
        ("createdby", Reference("systemuser", NOBODY), "read_only"),
        ("versionnumber", 1, "read_only"),
        ("name", 1, "wrong_type"),
        ("numberofemployees", "1", "wrong_type"),
        ("numberofemployees", True, "wrong_type"),
        ("revenue", 1.5, "wrong_type"),
        ("donotemail", 1, "wrong_type"),
        ("new_customersince", "2026-01-01", "wrong_type"),
        ("new_interests", 1, "wrong_type"),
        ("primarycontactid", NOBODY, "wrong_type"),
        ("primarycontactid", Reference("contact", "x"), "wrong_type"),
        ("new_contract", "x", "wrong_type"),
        ("name", "x" * 161, "too_long"),
        ("numberofemployees", -1, "out_of_range"),
        ("numberofemployees", 2**31, "out_of_range"),
        ("revenue", Decimal("0.00001"), "out_of_range"),
        ("revenue", Decimal("-1"), "out_of_range"),
        ("industrycode", 4711, "unknown_option"),
        ("new_interests", (100000001, 4711), "unknown_option"),
        ("new_priority", 4711, "unknown_option"),
        ("statuscode", 4711, "unknown_option"),
        ("primarycontactid", Reference("account", NOBODY), "unknown_target"),
        ("primarycontactid", Reference("contact", NOBODY), "unknown_target"),
        ("name", "nul \0", "out_of_range"),
        ("name", "half \ud800", "out_of_range"),
    ],
)
def test_a_wrong_value_is_named(platform: Platform, attribute: str, value: Value, code: str) -> None:
    id = account(platform)
    with pytest.raises(InvalidRecord) as raised:
        platform.update("account", id, {attribute: value})
    assert problems(raised.value) == {(attribute, code)}
    assert raised.value.entity == "account"


def test_every_wrong_value_is_named_at_once(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create("account", {"fax": "x" * 51, "industrycode": 4711, "nothing": 1})
    assert problems(raised.value) == {
        ("fax", "too_long"),
        ("industrycode", "unknown_option"),
        ("nothing", "unknown_attribute"),
        ("name", "required"),
    }


def test_a_required_value_cannot_be_missing(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create("account", {"fax": "1"})
    assert problems(raised.value) == {("name", "required")}


def test_an_owner_cannot_be_cleared(platform: Platform) -> None:
    id = account(platform)
    with pytest.raises(InvalidRecord) as raised:
        platform.update("account", id, {"ownerid": None})
    assert problems(raised.value) == {("ownerid", "required")}


def test_an_id_that_is_taken(platform: Platform) -> None:
    id = account(platform)
    with pytest.raises(DuplicateKey) as raised:
        platform.create("account", {"name": "Again"}, id=id)
    assert (raised.value.entity, raised.value.key) == ("account", "accountid")


def test_an_alternate_key_that_is_taken(platform: Platform) -> None:
    number = str(uuid.uuid4())[:20]
    account(platform, accountnumber=number)
    other = account(platform)
    for call in (
        lambda: account(platform, accountnumber=number),
        lambda: platform.update("account", other, {"accountnumber": number}),
    ):
        with pytest.raises(DuplicateKey) as raised:
            call()
        assert (raised.value.entity, raised.value.key) == ("account", "accountnumber")


@pytest.mark.parametrize("version", ["1", "99999999999", "", "x", '"'])
def test_a_version_that_is_not_the_records(platform: Platform, version: str) -> None:
    id = account(platform)
    for call in (
        lambda: platform.update("account", id, {"fax": "1"}, if_version=version),
        lambda: platform.delete("account", id, if_version=version),
    ):
        with pytest.raises(VersionMismatch) as raised:
            call()
        assert (raised.value.entity, raised.value.id) == ("account", id)


def test_a_relationship_that_restricts(platform: Platform) -> None:
    parent = account(platform)
    account(platform, parentaccountid=Reference("account", parent))
    with pytest.raises(StateConflict):
        platform.delete("account", parent)


@pytest.mark.needs("business units")
def test_a_business_unit_that_is_needed(platform: Platform) -> None:
    with pytest.raises(StateConflict):
        platform.delete("businessunit", ROOT_UNIT)


def test_a_caller_who_does_not_exist(platform: Platform) -> None:
    with pytest.raises(AccessDenied):
        platform.create("account", {"name": "x"}, call=Call(caller=NOBODY))


def test_a_deadline_that_has_passed(platform: Platform) -> None:
    id = account(platform)
    call = Call(deadline=time.monotonic())
    for attempt in (
        lambda: platform.create("account", {"name": "late"}, call=call),
        lambda: platform.retrieve("account", id, [], call=call),
        lambda: platform.update("account", id, {"fax": "1"}, call=call),
        lambda: platform.delete("account", id, call=call),
        lambda: platform.query(Query("account"), call=call),
        lambda: platform.execute("new_Ping", {"Message": "x"}, call=call),
    ):
        with pytest.raises(DeadlineExceeded):
            attempt()


def test_a_column_that_does_not_exist(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.retrieve("account", account(platform), ["name", "nothing"])
    assert problems(raised.value) == {("nothing", "unknown_attribute")}


@pytest.mark.parametrize(
    "query",
    [
        Query("account", (Column("nothing"),)),
        Query("account", filter=Filter((Condition("nothing", Operator.NULL),))),
        Query("account", orders=(Order("nothing"),)),
        Query("account", links=(Link("contact", "nothing", "primarycontactid", "c"),)),
        Query("account", (Column("name"), Column("fax", "name"))),
        Query("account", filter=Filter((Condition("name", Operator.EQ, ()),))),
        Query("account", filter=Filter((Condition("numberofemployees", Operator.EQ, ("x",)),))),
        Query("account", filter=Filter((Condition("donotemail", Operator.GT, (True,)),))),
        Query("account", filter=Filter((Condition("name", Operator.EQ, ("x",), "nolink"),))),
        Query("account", filter=Filter((Condition("name", Operator.LIKE, ("nul \0",)),))),
        Query("account", top=0),
    ],
)
def test_a_query_that_makes_no_sense(platform: Platform, query: Query) -> None:
    with pytest.raises(InvalidQuery):
        platform.query(query)


@pytest.mark.parametrize("token", ["", "x", "AAAA", "W10", "é", "x" * 30_000])
def test_a_page_token_that_is_none(platform: Platform, token: str) -> None:
    with pytest.raises(InvalidQuery):
        platform.query(Query("account", (Column("name"),)), Page(size=2, token=token))


def test_option_sets_and_processes_that_do_not_exist(platform: Platform) -> None:
    with pytest.raises(UnknownOptionSet):
        platform.option_set("nothing")
    with pytest.raises(UnknownOptionSet):
        platform.option_set("name", entity="account")
    with pytest.raises(UnknownProcess):
        platform.execute("new_Nothing", {})
