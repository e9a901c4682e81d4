"""Writing records by their alternate key: updated, or created, by one rule on every platform."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from crmclient import Call, Platform, Reference
from crmclient.errors import (
    AccessDenied,
    DuplicateKey,
    InvalidRecord,
    MissingRequired,
    ReadOnlyAttribute,
    RecordNotFound,
    TooLong,
    UnknownAttribute,
    UnknownEntity,
    UnknownKey,
    UnknownTarget,
    VersionMismatch,
    WrongType,
)
from tests.contract.making import NOBODY, account, read


@pytest.fixture
def number() -> str:
    """A value of the key that no record has."""
    return f"K-{uuid.uuid4().hex[:12]}"


def test_a_record_is_created_and_then_updated(platform: Platform, number: str) -> None:
    made = platform.upsert("account", {"accountnumber": number}, {"name": "First", "fax": "1"})
    changed = platform.upsert("account", {"accountnumber": number}, {"name": "Second"})

    assert (made.created, changed.created) == (True, False)
    assert made.id == changed.id
    record = platform.retrieve("account", made.id, ["name", "fax", "accountnumber"])
    assert record.values == {"name": "Second", "fax": "1", "accountnumber": number}
    assert (made.version != changed.version, record.version) == (True, changed.version)


def test_a_key_is_compared_without_regard_to_case(platform: Platform, number: str) -> None:
    id = account(platform, accountnumber=number)

    changed = platform.upsert("account", {"accountnumber": number.lower()}, {"name": "Same"})

    assert (changed.id, changed.created) == (id, False)
    # The key finds the record, and is not written to it.
    assert read(platform, "account", id, "accountnumber") == number


@pytest.mark.parametrize(
    "text",
    [
        *("A/1", "o'Neil", "100% & more?", "a,b", "ä ö", "(x)=y", "#1+2", "back\\slash", " inner "),
        *("line\nend", "tab\tend", "\r", "\x85"),
    ],
)
def test_a_key_may_hold_any_text(platform: Platform, number: str, text: str) -> None:
    key = {"accountnumber": f"{number[:8]}{text}"}

    made = platform.upsert("account", key, {"name": "First"})
    changed = platform.upsert("account", key, {"name": "Second"})

    assert (made.created, changed.created, changed.id) == (True, False, made.id)
    assert read(platform, "account", made.id, "accountnumber") == key["accountnumber"]
    with pytest.raises(DuplicateKey) as raised:
        platform.upsert("account", key, {"name": "Third"}, exists=False)
    assert raised.value.key == "accountnumber"


def test_what_must_exist_is_not_created(platform: Platform, number: str) -> None:
    key = {"accountnumber": number}
    for guard in ({"exists": True}, {"if_version": "1"}, {"exists": True, "if_version": "1"}):
        options: dict[str, Any] = guard
        with pytest.raises(RecordNotFound) as raised:
            platform.upsert("account", key, {"name": "Never"}, **options)
        assert raised.value.entity == "account"
    assert platform.upsert("account", key, {"name": "Now"}, exists=False).created
    assert not platform.upsert("account", key, {"name": "Again"}, exists=True).created


def test_what_must_not_exist_is_not_updated(platform: Platform, number: str) -> None:
    id = account(platform, accountnumber=number)
    before = platform.retrieve("account", id, ["name"])

    with pytest.raises(DuplicateKey) as raised:
        platform.upsert("account", {"accountnumber": number}, {"name": "Never"}, exists=False)

    assert (raised.value.entity, raised.value.key) == ("account", "accountnumber")
    assert platform.retrieve("account", id, ["name"]) == before


def test_a_version_that_is_meant_is_the_records(platform: Platform, number: str) -> None:
    key = {"accountnumber": number}
    made = platform.upsert("account", key, {"name": "First"})

    with pytest.raises(VersionMismatch):
        platform.upsert("account", key, {"name": "Never"}, if_version="1")
    changed = platform.upsert("account", key, {"name": "Second"}, if_version=made.version)

    assert not changed.created
    with pytest.raises(VersionMismatch):
        platform.upsert("account", key, {"name": "Never"}, if_version=made.version)
    assert read(platform, "account", made.id, "name") == "Second"


@pytest.mark.parametrize("attributes", [("name",), ("accountnumber", "name"), (), ("nothing",)])
def test_what_is_no_key_is_refused(platform: Platform, attributes: tuple[str, ...]) -> None:
    with pytest.raises(UnknownKey) as raised:
        platform.upsert("account", dict.fromkeys(attributes, "x"), {})
    assert (raised.value.entity, set(raised.value.attributes)) == ("account", set(attributes))


@pytest.mark.parametrize(
    ("key", "values", "problem"),
    [
        ({"accountnumber": None}, {"name": "x"}, MissingRequired),
        ({"accountnumber": ""}, {"name": "x"}, MissingRequired),
        ({"accountnumber": 5}, {"name": "x"}, WrongType),
        ({"accountnumber": "x" * 21}, {"name": "x"}, TooLong),
        ({"accountnumber": "x"}, {"accountnumber": "x", "name": "x"}, ReadOnlyAttribute),
        (
            {"accountnumber": "x"},
            {"name": "x", "createdby": Reference("systemuser", NOBODY)},
            ReadOnlyAttribute,
        ),
        ({"accountnumber": "x"}, {"name": "x" * 161}, TooLong),
        ({"accountnumber": "x"}, {"name": "x", "nothing": 1}, UnknownAttribute),
        (
            {"accountnumber": "nobody has it"},
            {"name": "x", "primarycontactid": Reference("contact", NOBODY)},
            UnknownTarget,
        ),
        ({"accountnumber": "nobody has it"}, {"fax": "1"}, MissingRequired),
    ],
)
def test_wrong_values_are_named(
    platform: Platform, key: dict[str, Any], values: dict[str, Any], problem: type[Exception]
) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.upsert("account", key, values)
    assert [type(one) for one in raised.value.problems] == [problem]


def test_an_attribute_that_only_a_create_may_write(platform: Platform, number: str) -> None:
    """Whether it is written must not depend on whether the record is there."""
    attributes = platform.attributes("account")
    only_created = next(
        (
            name
            for name, one in attributes.items()
            if one.creatable and not one.updatable and one.is_primary_id
        ),
    )
    id, key = str(uuid.uuid4()), {"accountnumber": number}
    with pytest.raises(InvalidRecord) as raised:
        platform.upsert("account", key, {"name": "x", only_created: id})
    assert [type(one) for one in raised.value.problems] == [ReadOnlyAttribute]
    assert platform.upsert("account", key, {"name": "x", only_created: id}, exists=False).id == id


def test_an_entity_that_is_not_there(platform: Platform) -> None:
    with pytest.raises(UnknownEntity):
        platform.upsert("nothing", {"accountnumber": "x"}, {})


def test_who_is_no_user_may_not_write(platform: Platform, number: str) -> None:
    with pytest.raises(AccessDenied):
        platform.upsert("account", {"accountnumber": number}, {"name": "x"}, call=Call(caller=NOBODY))
    with pytest.raises(RecordNotFound):
        platform.upsert("account", {"accountnumber": number}, {"name": "x"}, exists=True)
