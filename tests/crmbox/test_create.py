"""Creating records: everything wrong is said at once, and nothing half-written stays."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest

from crmbox.engine.identities import ROOT_BUSINESS_UNIT, SERVICE_USER
from crmclient import Call, Platform, Reference, Value
from crmclient.errors import (
    AccessDenied,
    DuplicateKey,
    InvalidRecord,
    UnknownEntity,
)
from crmclient.query.ast import Aggregate, Column, Query
from tests.crmbox.shop import add_category, add_product, read

NOBODY = "11111111-1111-4111-8111-111111111111"


def products(platform: Platform) -> Value:
    count = Column("shop_productid", alias="n", aggregate=Aggregate.COUNT)
    return platform.query(Query("shop_product", (count,))).rows[0]["n"]


def add_user(platform: Platform, **values: Value) -> str:
    values = {"lastname": "Rep", "businessunitid": Reference("businessunit", ROOT_BUSINESS_UNIT), **values}
    return platform.create("systemuser", values).id


WRONG: dict[str, tuple[str, Any, str]] = {
    "text for a number": ("quantity", "5", "wrong_type"),
    "true for a number": ("quantity", True, "wrong_type"),
    "number for a text": ("notes", 5, "wrong_type"),
    "float for money": ("price", 0.1, "wrong_type"),
    "number for true or false": ("fragile", 1, "wrong_type"),
    "time without an offset": ("soldon", dt.datetime(2026, 1, 1), "wrong_type"),  # noqa: DTZ001
    "time for a date": ("madeon", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "wrong_type"),
    "date for a time": ("soldon", dt.date(2026, 1, 1), "wrong_type"),
    "no guid": ("token", "abc", "wrong_type"),
    "bare id for a lookup": ("categoryid", NOBODY, "wrong_type"),
    "text for choices": ("tags", "5", "wrong_type"),
    "file by value": ("sheet", "bytes", "wrong_type"),
    "too long a text": ("code", "x" * 21, "too_long"),
    "too small a number": ("quantity", -1, "out_of_range"),
    "too large a number": ("quantity", 1001, "out_of_range"),
    "beyond 64 bits": ("serial", 2**63, "out_of_range"),
    "too large an amount": ("price", Decimal("922337203685477.5808"), "out_of_range"),
    "huge exponent": ("price", Decimal("1E+1000000"), "out_of_range"),
    "no finite number": ("price", Decimal("NaN"), "out_of_range"),
    "no finite float": ("ratio", float("inf"), "out_of_range"),
    "too many decimal places": ("cost", Decimal("1.005"), "out_of_range"),
    "more places than are kept": ("price", Decimal("0.00001"), "out_of_range"),
    "before all dates": ("madeon", dt.date(1700, 1, 1), "out_of_range"),
    "a NUL character": ("notes", "a\0b", "out_of_range"),
    "half a surrogate pair": ("notes", "\ud800", "out_of_range"),
    "an unknown option": ("colour", 30, "unknown_option"),
    "an unknown global option": ("size", 9, "unknown_option"),
    "an unknown one of several options": ("tags", (5, 6), "unknown_option"),
    "an unknown status": ("statuscode", 99, "unknown_option"),
    "a target that is not allowed": ("categoryid", Reference("shop_person", NOBODY), "unknown_target"),
    "a target that does not exist": ("buyerid", Reference("shop_person", NOBODY), "unknown_target"),
    "an unknown attribute": ("colours", 1, "unknown_attribute"),
    "an attribute that the platform fills in": ("createdon", dt.datetime.now(dt.UTC), "read_only"),
    "a joined attribute": ("title", "Mine", "read_only"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_named_and_nothing_is_written(platform: Platform, case: str) -> None:
    attribute, value, code = WRONG[case]
    before = products(platform)

    with pytest.raises(InvalidRecord) as raised:
        platform.create("shop_product", {"name": "Lamp", attribute: value})

    assert [(problem.attribute, problem.code) for problem in raised.value.problems] == [(attribute, code)]
    assert products(platform) == before


def test_all_wrong_values_are_named_at_once(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create(
            "shop_product",
            {
                "quantity": -1,
                "code": "x" * 21,
                "nothing": 1,
                "categoryid": Reference("shop_category", NOBODY),
                "buyerid": Reference("shop_person", NOBODY),
            },
        )

    assert {problem.attribute for problem in raised.value.problems} == {
        "quantity",
        "code",
        "nothing",
        "categoryid",
        "buyerid",
        "name",
    }


@pytest.mark.parametrize("name", [None, ""])
def test_a_required_attribute_needs_a_value(platform: Platform, name: str | None) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create("shop_product", {"name": name})

    assert [problem.code for problem in raised.value.problems] == ["required"]


def test_a_length_counts_characters(platform: Platform) -> None:
    id = add_product(platform, code="ش" * 20)

    assert read(platform, id, "code") == "ش" * 20


def test_an_unknown_entity_is_an_error_of_its_own(platform: Platform) -> None:
    with pytest.raises(UnknownEntity):
        platform.create("shop_ghost", {})


def test_new_ids_are_in_the_order_in_which_records_were_made(platform: Platform) -> None:
    ids = [add_product(platform) for _ in range(20)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 20


def test_a_chosen_id_is_taken_once(platform: Platform) -> None:
    id = str(uuid.uuid4())

    assert platform.create("shop_product", {"name": "Lamp"}, id=id.upper()).id == id
    with pytest.raises(DuplicateKey) as raised:
        platform.create("shop_product", {"name": "Lamp"}, id=id)
    assert raised.value.key == "shop_productid"


def test_an_id_may_be_chosen_among_the_values(platform: Platform) -> None:
    id = str(uuid.uuid4())

    assert platform.create("shop_product", {"name": "Lamp", "shop_productid": id}).id == id


def test_two_different_ids_are_refused(platform: Platform) -> None:
    with pytest.raises(InvalidRecord):
        platform.create("shop_product", {"name": "Lamp", "shop_productid": str(uuid.uuid4())}, id=NOBODY)


def test_an_id_that_is_no_guid_is_refused(platform: Platform) -> None:
    with pytest.raises(InvalidRecord):
        platform.create("shop_product", {"name": "Lamp"}, id="42")


def test_an_alternate_key_is_unique_without_regard_to_case(platform: Platform) -> None:
    code = f"ä-{uuid.uuid4()}"[:20]
    add_product(platform, code=code)

    with pytest.raises(DuplicateKey) as raised:
        add_product(platform, code=code.upper())
    assert raised.value.key == "shop_code"


def test_an_empty_alternate_key_is_not_compared(platform: Platform) -> None:
    add_product(platform, code=None)
    add_product(platform, code=None)


def test_the_platform_fills_in_who_and_when(platform: Platform) -> None:
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)

    id = add_product(platform)

    values = platform.retrieve(
        "shop_product",
        id,
        ["createdon", "modifiedon", "createdby", "modifiedby", "ownerid", "owningbusinessunit"],
    ).values
    created = values["createdon"]
    assert isinstance(created, dt.datetime)
    assert before <= created <= dt.datetime.now(dt.UTC)
    assert values["modifiedon"] == created
    assert values["createdby"] == values["modifiedby"] == values["ownerid"]
    assert values["createdby"] == Reference("systemuser", SERVICE_USER, "Portico Service")
    unit = values["owningbusinessunit"]
    assert isinstance(unit, Reference)
    assert unit.id == ROOT_BUSINESS_UNIT


def test_a_record_belongs_to_the_user_who_is_acted_for(platform: Platform) -> None:
    unit = platform.create("businessunit", {"name": "North"}).id
    user = add_user(platform, firstname="Rita", businessunitid=Reference("businessunit", unit))

    id = platform.create("shop_product", {"name": "Lamp"}, call=Call(caller=user)).id

    rita = Reference("systemuser", user, "Rita Rep")
    assert platform.retrieve("shop_product", id, ["createdby", "ownerid", "owningbusinessunit"]).values == {
        "createdby": rita,
        "ownerid": rita,
        "owningbusinessunit": Reference("businessunit", unit, "North"),
    }


def test_a_team_may_own_a_record_and_gives_it_its_business_unit(platform: Platform) -> None:
    unit = platform.create("businessunit", {"name": "South"}).id
    team = platform.create("team", {"name": "Field", "businessunitid": Reference("businessunit", unit)}).id

    id = add_product(platform, ownerid=Reference("team", team))

    assert platform.retrieve("shop_product", id, ["ownerid", "owningbusinessunit"]).values == {
        "ownerid": Reference("team", team, "Field"),
        "owningbusinessunit": Reference("businessunit", unit, "South"),
    }


@pytest.mark.parametrize("disabled", [True, False])
def test_nobody_acts_as_a_disabled_or_unknown_user(platform: Platform, disabled: bool) -> None:
    user = add_user(platform, isdisabled=True) if disabled else NOBODY

    call = Call(caller=user)
    id = add_product(platform)
    body = BytesIO(b"x")

    with pytest.raises(AccessDenied):
        platform.create("shop_product", {"name": "Lamp"}, call=call)
    with pytest.raises(AccessDenied):
        platform.update("shop_product", id, {"name": "Mine"}, call=call)
    with pytest.raises(AccessDenied):
        platform.delete("shop_product", id, call=call)
    with pytest.raises(AccessDenied):
        platform.upload("shop_product", id, "sheet", body, file_name="x", content_type="x/y", call=call)
    assert platform.retrieve("shop_product", id, ["name", "sheet"]).values == {"name": "Lamp", "sheet": None}


def test_defaults_are_for_what_is_not_given(platform: Platform) -> None:
    first, second = add_product(platform), add_product(platform, fragile=True, colour=None)

    assert platform.retrieve("shop_product", first, ["fragile", "colour"]).values == {
        "fragile": False,
        "colour": 10,
    }
    assert platform.retrieve("shop_product", second, ["fragile", "colour"]).values == {
        "fragile": True,
        "colour": None,
    }


def test_a_joined_value_leaves_out_what_is_empty(platform: Platform) -> None:
    person = platform.create("shop_person", {"lastname": "Ølund"}).id

    assert read(platform, person, "fullname", "shop_person") == "Ølund"


def test_a_record_may_be_older_than_its_import(platform: Platform) -> None:
    long_ago = dt.datetime(2019, 5, 1, tzinfo=dt.UTC)

    id = add_product(platform, overriddencreatedon=long_ago)

    assert read(platform, id, "createdon") == long_ago


def test_an_entity_of_the_organisation_has_no_owner(platform: Platform) -> None:
    assert "ownerid" not in platform.attributes("shop_category")
    assert add_category(platform).id
