"""A user who may write records and not read them: what is written is told as done."""

from __future__ import annotations

import io

import pytest

from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import AccessDenied, DuplicateKey, MissingPrivilege, RecordNotFound, VersionMismatch
from crmclient.platform import Create, Delete, Operation, Update
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.dataverse.conftest import Failing

NUMBER = "WRITE-ONLY-1"


def named(platform: DataversePlatform, id: str) -> object:
    return platform.retrieve("account", id, ["name"]).values["name"]


def test_who_may_create_and_not_read_creates_once(failing: Failing) -> None:
    platform = failing.platform()
    failing.deny("prvReadAccount")

    first = platform.create("account", {"name": "Unread"})
    second = platform.create("account", {"name": "Unread"})

    assert first.version is second.version is None
    with pytest.raises(MissingPrivilege):
        platform.retrieve("account", first.id, ["name"])
    failing.deny()
    same = Filter((Condition("accountid", Operator.IN, (first.id, second.id)),))
    assert len(platform.query(Query("account", (Column("name"),), same)).rows) == 2


def test_who_may_create_and_not_read_creates_with_others_at_once(failing: Failing) -> None:
    platform = failing.platform()
    platform.attributes("contact")
    failing.deny("prvReadContact")
    account, contact = platform.batch(
        [Create("account", {"name": "Read"}), Create("contact", {"lastname": "Unread"})]
    )
    failing.deny()

    assert account is not None
    assert contact is not None
    assert named(platform, account.id) == "Read"
    assert platform.retrieve("contact", contact.id, ["lastname"]).values == {"lastname": "Unread"}


def test_who_may_not_create_is_told_so(failing: Failing) -> None:
    platform = failing.platform()
    failing.deny("prvReadAccount", "prvCreateAccount")

    with pytest.raises((AccessDenied, MissingPrivilege)) as refused:
        platform.create("account", {"name": "Never"})

    assert "prvCreateAccount" in str(refused.value)


def test_a_create_whose_answer_is_lost_is_done(failing: Failing) -> None:
    platform = failing.platform()
    failing.deny("prvReadAccount")
    platform.create("account", {"name": "Noted as unreadable"})
    failing.arm({"method": "POST", "path": "/accounts$", "executed": True, "cut": "answer"})

    created = platform.create("account", {"name": "Lost"})

    failing.deny()
    assert created.version is None
    assert named(platform, created.id) == "Lost"


def test_an_update_is_done_with_and_without_a_version(failing: Failing) -> None:
    platform = failing.platform()
    made = platform.create("account", {"name": "Before"})
    failing.deny("prvReadAccount")

    first = platform.update("account", made.id, {"name": "First"}, if_version=made.version)
    second = platform.update("account", made.id, {"name": "Second"})
    with pytest.raises(VersionMismatch):
        platform.update("account", made.id, {"name": "Stale"}, if_version=made.version)

    failing.deny()
    assert (first.id, first.version) == (second.id, second.version) == (made.id, None)
    assert named(platform, made.id) == "Second"


def test_an_update_of_a_missing_record_is_refused(failing: Failing) -> None:
    platform = failing.platform()
    failing.deny("prvReadAccount")
    made = platform.create("account", {"name": "Made"})
    platform.delete("account", made.id)

    with pytest.raises(RecordNotFound):
        platform.update("account", made.id, {"name": "Gone"})


def test_who_may_neither_write_nor_read_is_refused(failing: Failing) -> None:
    platform = failing.platform()
    made = platform.create("account", {"name": "Before"})
    failing.deny("prvReadAccount", "prvWriteAccount")

    with pytest.raises((AccessDenied, MissingPrivilege)) as refused:
        platform.update("account", made.id, {"name": "Never"})

    assert "prvWriteAccount" in str(refused.value)
    failing.deny()
    assert named(platform, made.id) == "Before"


def test_a_batch_without_a_create_is_done(failing: Failing) -> None:
    platform = failing.platform()
    made, other = (platform.create("account", {"name": name}) for name in ("Before", "Going"))
    contact = platform.create("contact", {"lastname": "Read"})
    failing.deny("prvReadAccount")

    operations: list[Operation] = [
        Update("contact", contact.id, {"lastname": "Read again"}),
        Update("account", made.id, {"name": "After"}),
        Delete("account", other.id),
    ]
    answers = [platform.batch(operations[:2]), platform.batch(operations)]

    failing.deny()
    for [of_contact, of_account, *_] in answers:
        assert of_contact is not None
        assert of_contact.version is not None, "contacts may be read"
        assert of_account is not None
        assert of_account.version is None
    assert named(platform, made.id) == "After"
    with pytest.raises(RecordNotFound):
        named(platform, other.id)


def test_a_batch_over_several_unreadable_entities_is_done(failing: Failing) -> None:
    platform = failing.platform()
    failing.deny("prvReadAccount", "prvReadContact")
    platform.create("account", {"name": "Noted as unreadable"})

    account, contact = platform.batch(
        [Create("account", {"name": "First"}), Create("contact", {"lastname": "Second"})]
    )

    failing.deny()
    assert account is not None
    assert contact is not None
    assert named(platform, account.id) == "First"
    assert platform.retrieve("contact", contact.id, ["lastname"]).values == {"lastname": "Second"}


def test_an_upsert_is_done_and_says_whether_it_created(failing: Failing) -> None:
    platform = failing.platform()
    key = {"accountnumber": NUMBER}
    failing.deny("prvReadAccount")

    created = platform.upsert("account", key, {"name": "Created"}, exists=False)
    with pytest.raises(DuplicateKey):
        platform.upsert("account", key, {"name": "Again"}, exists=False)
    changed = platform.upsert("account", key, {"name": "Changed"})
    changed_again = platform.upsert("account", key, {"name": "Changed again"}, exists=True)
    platform.delete("account", created.id)
    with pytest.raises(RecordNotFound):
        platform.upsert("account", key, {"name": "Gone"}, exists=True)
    created_again = platform.upsert("account", key, {"name": "Created again"})

    failing.deny()
    assert [answer.created for answer in (created, changed, changed_again, created_again)] == [
        True,
        False,
        False,
        True,
    ]
    assert created.id == changed.id == changed_again.id
    assert named(platform, created_again.id) == "Created again"
    platform.delete("account", created_again.id)


def test_files_are_stored(failing: Failing) -> None:
    platform = failing.platform()
    account = platform.create("account", {"name": "With files"})
    note = platform.create("annotation", {"subject": "A note"})
    failing.deny("prvReadAccount", "prvReadNote")

    stored = [
        platform.upload(*place, io.BytesIO(b"hello"), file_name="a.txt", content_type="text/plain")
        for place in (
            ("account", account.id, "new_contract"),
            ("annotation", note.id, "documentbody"),
            ("annotation", note.id, "documentbody"),
        )
    ]

    failing.deny()
    assert {(info.file_name, info.size, info.content_type) for info in stored} == {("a.txt", 5, "text/plain")}
    for place in (("account", account.id, "new_contract"), ("annotation", note.id, "documentbody")):
        download = platform.download(*place)
        assert download is not None
        assert b"".join(download.chunks) == b"hello"
