"""Batches: all of it, or none, and which operation failed."""

from __future__ import annotations

import uuid

import pytest

from crmclient import Create, Delete, Operation, Platform, Reference, Update
from crmclient.errors import (
    DuplicateKey,
    InvalidRecord,
    PlatformError,
    RecordNotFound,
    StateConflict,
    UnknownEntity,
    VersionMismatch,
)
from tests.contract.making import NOBODY, account, read


def test_each_operation_has_its_answer(platform: Platform) -> None:
    first, second = account(platform), account(platform)

    created, updated, deleted = platform.batch(
        [
            Create("account", {"name": "New"}),
            Update("account", first, {"fax": "7"}),
            Delete("account", second),
        ]
    )

    assert created is not None
    assert updated is not None
    assert read(platform, "account", created.id, "name") == "New"
    assert platform.retrieve("account", first, ["fax"]).version == updated.version
    assert deleted is None


def test_an_item_may_point_at_what_an_earlier_one_creates(platform: Platform) -> None:
    parent, child = str(uuid.uuid4()), str(uuid.uuid4())

    platform.batch(
        [
            Create("account", {"name": "Parent äöü 🚀"}, id=parent),
            Create(
                "contact", {"lastname": "Child", "parentcustomerid": Reference("account", parent)}, id=child
            ),
        ]
    )

    assert read(platform, "contact", child, "parentcustomerid") == Reference(
        "account", parent, "Parent äöü 🚀"
    )


def test_an_empty_batch_has_no_answers(platform: Platform) -> None:
    assert platform.batch([]) == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (Create("account", {"name": "x" * 161}), InvalidRecord),
        (Create("account", {"fax": "1"}), InvalidRecord),
        (
            Create("contact", {"lastname": "x", "parentcustomerid": Reference("account", NOBODY)}),
            InvalidRecord,
        ),
        (Create("nothing", {}), UnknownEntity),
        (Update("account", NOBODY, {"name": "x"}), RecordNotFound),
        (Delete("account", NOBODY), RecordNotFound),
    ],
)
def test_one_wrong_item_leaves_nothing_behind(
    platform: Platform, wrong: Operation, error: type[PlatformError]
) -> None:
    id, kept = str(uuid.uuid4()), account(platform)

    with pytest.raises(error) as raised:
        platform.batch(
            [
                Create("account", {"name": "x"}, id=id),
                Delete("account", kept),
                wrong,
                Create("account", {"name": "y"}),
            ]
        )

    assert raised.value.item == 2
    with pytest.raises(RecordNotFound):
        platform.retrieve("account", id, [])
    assert read(platform, "account", kept, "name") == "Contoso Test"


def test_errors_name_the_record_of_their_item(platform: Platform) -> None:
    id, parent = account(platform), account(platform)
    account(platform, parentaccountid=Reference("account", parent))
    for wrong, error in (
        (Update("account", id, {"name": "x"}, if_version="1"), VersionMismatch),
        (Create("account", {"name": "x"}, id=id), DuplicateKey),
        (Delete("account", parent), StateConflict),
    ):
        with pytest.raises(error) as raised:
            platform.batch([Update("account", id, {"fax": "1"}), wrong])
        assert raised.value.item == 1


def test_many_operations(platform: Platform) -> None:
    stored = platform.batch([Create("account", {"name": f"Many {number}"}) for number in range(101)])

    assert len({item.id for item in stored if item is not None}) == 101
