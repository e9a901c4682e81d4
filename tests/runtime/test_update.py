"""Update: what is sent is written, what is left out stays, and nothing is ever created."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crmbox.demo import people
from crmclient import Reference
from designer.models import Binding, Endpoint, Input
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint, stored

METHODS = pytest.mark.parametrize("method", ["PATCH", "PUT"])


def _require_version() -> None:
    Endpoint.objects.filter(pk=endpoint("update").pk).update(settings={"require_if_match": True})


@METHODS
def test_what_is_left_out_stays_and_null_empties(rita: Caller, method: str) -> None:
    path = an_account(telephone1="1", revenue=Decimal("5.5"), industrycode=6)
    answer = rita.request(method, path, {"phone": "2", "revenue": None})
    assert (answer.status_code, answer.content) == (204, b"")
    values = stored(path, "name", "telephone1", "revenue", "industrycode")
    assert values == {"name": "Contoso", "telephone1": "2", "revenue": None, "industrycode": 6}


def test_every_type_of_the_demo_is_written(rita: Caller) -> None:
    path = an_account()
    body = {"revenue": "922337203685477.5807", "industry": 6, "primaryContactId": people.FIRST_CONTACT}
    assert rita.patch(path, body).status_code == 204
    assert stored(path, "revenue") == Decimal("922337203685477.5807")
    contact = stored(path, "primarycontactid")
    assert isinstance(contact, Reference)
    assert contact.id == people.FIRST_CONTACT


@METHODS
def test_an_unknown_id_is_404_and_creates_nothing(rita: Caller, method: str) -> None:
    assert rita.request(method, f"{ACCOUNTS}/{NOBODY}", {"name": "New?"}).status_code == 404
    assert rita.request(method, f"{ACCOUNTS}/{NOBODY}", {}).status_code == 404
    assert rita.request(method, f"{ACCOUNTS}/{NOBODY}", {"name": "N"}, if_match="*").status_code == 404


def test_wrong_inputs_are_all_named_and_nothing_is_written(rita: Caller) -> None:
    path = an_account()
    body = {"name": None, "phone": 5, "industry": 999, "colour": "red", "revenue": "7"}
    answer = rita.patch(path, body)
    assert answer.status_code == 400
    assert {error["pointer"]: error["code"] for error in answer.json()["errors"]} == {
        "/name": "required",
        "/phone": "wrong_type",
        "/industry": "unknown_option",
        "/colour": "unknown_key",
    }
    assert stored(path, "revenue") is None


def test_a_reference_to_no_record_is_said_of_its_input(rita: Caller) -> None:
    path = an_account()
    answer = rita.patch(path, {"phone": "1", "primaryContactId": NOBODY})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/primaryContactId"
    assert stored(path, "telephone1") is None


def test_a_required_attribute_cannot_be_emptied(rita: Caller) -> None:
    Input.objects.filter(endpoint=endpoint("update"), name="name").update(nullable=True)
    path = an_account()
    answer = rita.patch(path, {"name": None})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/name")
    assert stored(path, "name") == "Contoso"


def test_the_answer_names_the_new_version_and_reads_agree(rita: Caller) -> None:
    path = an_account()
    before = rita.get(path)["ETag"]
    version = rita.patch(path, {"phone": "1"})["ETag"].strip('"')
    assert rita.get(path)["ETag"].strip('"').partition(".")[0] == version
    assert before.strip('"').partition(".")[0] != version


def test_if_match_compares_the_version_and_not_the_representation(rita: Caller) -> None:
    path = an_account()
    read = rita.get(path)["ETag"]
    written = rita.patch(path, {"phone": "1"}, if_match=read)
    assert written.status_code == 204
    stale = rita.patch(path, {"phone": "2"}, if_match=read)
    assert (stale.status_code, stale.json()["code"]) == (412, "version_mismatch")
    assert stored(path, "telephone1") == "1"
    assert rita.patch(path, {"phone": "3"}, if_match=written["ETag"]).status_code == 204
    assert rita.patch(path, {"phone": "4"}, if_match="*").status_code == 204


def test_one_of_several_tags_is_enough(rita: Caller) -> None:
    path = an_account()
    held = rita.get(path)["ETag"]
    assert rita.patch(path, {"phone": "1"}, if_match=f'"1", {held}').status_code == 204
    assert rita.patch(path, {"phone": "2"}, if_match=f'"1", {held}').status_code == 412


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ('"1"', 412),
        ('"no number"', 412),
        (f'"{"9" * 40}"', 412),
        ('""', 412),
        ('W/"1"', 412),
        ("1", 400),
        ('"1', 400),
        ("", 400),
    ],
)
def test_other_tags_are_refused(rita: Caller, given: str, status: int) -> None:
    path = an_account()
    assert rita.patch(path, {"phone": "1"}, if_match=given).status_code == status
    assert stored(path, "telephone1") is None


def test_a_weak_tag_never_matches(rita: Caller) -> None:
    path = an_account()
    assert rita.patch(path, {"phone": "1"}, if_match=f"W/{rita.get(path)['ETag']}").status_code == 412


def test_without_a_version_428_where_one_is_required(rita: Caller) -> None:
    path = an_account()
    _require_version()
    answer = rita.patch(path, {"phone": "1"})
    assert (answer.status_code, answer.json()["code"]) == (428, "if_match_required")
    assert rita.patch(path, {"phone": 1}).status_code == 400, "inputs are judged before"
    assert rita.patch(path, {"phone": "1"}, if_match=rita.get(path)["ETag"]).status_code == 204
    assert rita.patch(path, {"phone": "2"}, if_match="*").status_code == 204


def test_an_empty_object_changes_nothing_not_even_the_version(rita: Caller) -> None:
    path = an_account()
    held = rita.get(path)["ETag"]
    answer = rita.patch(path, {})
    assert answer.status_code == 204
    assert answer["ETag"].strip('"') == held.strip('"').partition(".")[0]
    assert rita.get(path, if_none_match=held).status_code == 304
    assert rita.patch(path, {}, if_match='"1"').status_code == 412
    assert rita.patch(path, {}, if_match=held).status_code == 204


def test_a_default_overwrites_nothing(rita: Caller) -> None:
    path = an_account(telephone1="1")
    Input.objects.filter(endpoint=endpoint("update"), name="phone").update(default="0")
    assert rita.patch(path, {"name": "Renamed"}).status_code == 204
    assert stored(path, "telephone1") == "1"


def test_a_required_input_must_be_sent_every_time(rita: Caller) -> None:
    Input.objects.filter(endpoint=endpoint("update"), name="name").update(required=True)
    path = an_account()
    assert rita.patch(path, {"phone": "1"}).json()["errors"][0]["pointer"] == "/name"
    assert rita.patch(path, {"phone": "1", "name": "N"}).status_code == 204


def test_a_constant_is_written_with_every_update(rita: Caller) -> None:
    Binding.objects.create(endpoint=endpoint("update"), attribute="fax", source="constant", value="none")
    path = an_account()
    assert rita.patch(path, {}).status_code == 204
    assert stored(path, "fax") == "none"


def test_a_taken_key_is_409(rita: Caller) -> None:
    row = endpoint("update")
    Input.objects.create(endpoint=row, name="number")
    Binding.objects.create(endpoint=row, attribute="accountnumber", value="number")
    an_account(accountnumber="G1-7")
    assert rita.patch(an_account(), {"number": "G1-7"}).json()["code"] == "duplicate_key"


def test_roles_are_judged_before_id_body_and_version(aya: Caller, anonymous: Caller) -> None:
    path = an_account()
    for at in (path, f"{ACCOUNTS}/nonsense"):
        assert aya.patch(at, b"{", if_match="x").status_code == 403
        assert anonymous.patch(at, b"{").status_code == 401
    assert stored(path, "name") == "Contoso"


@pytest.mark.parametrize(("body", "status"), [(b"", 415), (b"{", 400), (b"[]", 400), (b"null", 400)])
def test_a_hostile_body_is_refused(rita: Caller, body: bytes, status: int) -> None:
    headers = {"content_type": ""} if status == 415 else {}
    assert rita.patch(an_account(), body, **headers).status_code == status


def test_post_at_a_record_says_what_may_be_done(rita: Caller) -> None:
    answer = rita.post(an_account(), {"name": "N"})
    assert answer.status_code == 405
    assert answer["Allow"] == "DELETE, GET, PATCH, PUT, HEAD, OPTIONS"


def test_two_writers_with_one_version_do_not_both_win(rita: Caller, max: Caller) -> None:
    path = an_account()
    held = rita.get(path)["ETag"]
    statuses = [caller.patch(path, {"phone": "1"}, if_match=held).status_code for caller in (rita, max)]
    assert statuses == [204, 412]
    assert get_platform().retrieve("account", path.rpartition("/")[2], ()).version
