from __future__ import annotations

import uuid
from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, FIRST_CONTACT
from tests.webapi.crm import REPRESENTED, Crm

MISSING = "00000000-0000-4000-8000-0000000000ff"


@pytest.fixture
def account(crm: Crm) -> str:
    values = {"name": "Tailspin", "numberofemployees": 5}
    return f"accounts({crm.create('accounts', values)})"


def change(crm: Crm, path: str, values: dict[str, Any], **headers: str) -> int:
    return crm.send("PATCH", path, json=values, headers=headers).status_code


def test_what_is_given_is_written_and_the_rest_stays(crm: Crm, account: str) -> None:
    assert change(crm, account, {"name": "Tailspin Toys"}) == 204
    record = crm.get(account)
    assert (record["name"], record["numberofemployees"]) == ("Tailspin Toys", 5)


def test_an_update_answers_the_record_when_preferred(crm: Crm, account: str) -> None:
    answer = crm.send("PATCH", f"{account}?$select=name", json={"name": "Seen"}, headers=REPRESENTED)
    assert (answer.status_code, answer.json()["name"]) == (200, "Seen")


def test_null_clears_a_value_and_a_lookup(crm: Crm, account: str) -> None:
    change(crm, account, {"primarycontactid@odata.bind": f"/contacts({FIRST_CONTACT})"})
    assert crm.get(account)["_primarycontactid_value"] == FIRST_CONTACT
    change(crm, account, {"primarycontactid@odata.bind": None, "numberofemployees": None})
    record = crm.get(account)
    assert (record["_primarycontactid_value"], record["numberofemployees"]) == (None, None)
    change(crm, account, {"primarycontactid@odata.bind": f"/contacts({FIRST_CONTACT})"})
    change(crm, account, {"primarycontactid": None})
    assert crm.get(account)["_primarycontactid_value"] is None


def test_a_patch_of_no_record_creates_it(crm: Crm) -> None:
    id = str(uuid.uuid4())
    answer = crm.send("PATCH", f"accounts({id})", json={"name": "Upserted"})
    assert (answer.status_code, answer.headers["OData-EntityId"]) == (204, f"{crm.base}accounts({id})")
    assert crm.get(f"accounts({id})")["name"] == "Upserted"


def test_a_patch_by_alternate_key_creates_with_the_key_and_then_updates(crm: Crm) -> None:
    path = f"accounts(accountnumber='U''{uuid.uuid4().hex[:8]}/1')"
    created = crm.send("PATCH", path, json={"name": "One"}, headers=REPRESENTED)
    assert created.status_code == 201
    updated = crm.send("PATCH", path, json={"name": "Two"}, headers=REPRESENTED)
    assert updated.status_code == 200
    assert updated.json()["accountid"] == created.json()["accountid"]
    assert updated.json()["accountnumber"].endswith("/1")


def test_if_match_forbids_to_create(crm: Crm) -> None:
    answer = crm.send("PATCH", f"accounts({MISSING})", json={"name": "x"}, headers={"If-Match": "*"})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == f"account With Id = {MISSING} Does Not Exist"


def test_if_none_match_forbids_to_update(crm: Crm, account: str) -> None:
    assert change(crm, account, {"name": "x"}, **{"If-None-Match": "*"}) == 412
    assert change(crm, account, {"name": "x"}, **{"If-None-Match": "null"}) == 204


def test_a_stale_version_is_refused(crm: Crm, account: str) -> None:
    tag = crm.get(account)["@odata.etag"]
    assert change(crm, account, {"name": "First"}, **{"If-Match": tag}) == 204
    answer = crm.send("PATCH", account, json={"name": "Second"}, headers={"If-Match": tag})
    assert answer.status_code == 412
    assert answer.json()["error"]["code"] == "0x80060882"
    assert crm.send("DELETE", account, headers={"If-Match": tag}).status_code == 412
    assert crm.get(account)["name"] == "First"


def test_one_property_is_written_read_and_cleared(crm: Crm, account: str) -> None:
    assert crm.send("PUT", f"{account}/name", json={"value": "By itself"}).status_code == 204
    assert crm.get(f"{account}/name")["value"] == "By itself"
    assert crm.send("GET", f"{account}/name/$value").text == "By itself"
    assert crm.send("DELETE", f"{account}/numberofemployees").status_code == 204
    assert crm.send("GET", f"{account}/numberofemployees").status_code == 204
    assert crm.error("PUT", f"{account}/name", json={"val": 1})[0] == 400
    assert crm.error("GET", f"{account}/nme")[0] == 404


def test_a_deleted_record_is_gone(crm: Crm, account: str) -> None:
    assert crm.send("DELETE", account).status_code == 204
    assert crm.error("DELETE", account)[:2] == (404, "0x80040217")


def test_a_collection_cannot_be_patched_or_deleted(crm: Crm) -> None:
    assert crm.error("PATCH", "accounts", json={})[0] == 405
    assert crm.error("DELETE", "accounts")[0] == 405


def test_lookups_are_set_and_cleared_by_reference(crm: Crm, account: str) -> None:
    path = f"{account}/primarycontactid/$ref"
    body = {"@odata.id": f"{crm.base}contacts({FIRST_CONTACT})"}
    assert crm.send("PUT", path, json=body).status_code == 204
    assert crm.get(path)["@odata.id"] == body["@odata.id"]
    assert crm.get(f"{account}/primarycontactid?$select=contactid")["contactid"] == FIRST_CONTACT
    assert crm.send("DELETE", path).status_code == 204
    assert crm.send("GET", f"{account}/primarycontactid").status_code == 204


def test_members_of_a_collection_are_added_and_removed(crm: Crm, account: str) -> None:
    contact = crm.create("contacts", {"lastname": "Member"})
    nav = f"{account}/contact_customer_accounts"
    for remove in (f"{nav}({contact})/$ref", f"{nav}/$ref?$id={crm.base}contacts({contact})"):
        assert crm.send("POST", f"{nav}/$ref", json={"@odata.id": f"contacts({contact})"}).status_code == 204
        assert crm.get(f"contacts({contact})")["_parentcustomerid_value"] in account
        assert crm.send("DELETE", remove).status_code == 204
        assert crm.get(f"contacts({contact})")["_parentcustomerid_value"] is None
        assert crm.error("DELETE", remove)[0] == 404


def test_members_of_a_many_to_many_collection_are_added_and_removed(crm: Crm) -> None:
    team = crm.create("teams", {"name": "Together", "businessunitid@odata.bind": business_unit(crm)})
    user = crm.get("WhoAmI")["UserId"]
    nav = f"teams({team})/teammembership_association/$ref"
    assert crm.send("POST", nav, json={"@odata.id": f"systemusers({user})"}).status_code == 204
    refused = crm.error("POST", nav, json={"@odata.id": f"systemusers({user})"})
    assert refused == (412, "0x80040237", "Cannot insert duplicate key.")
    members = f"teams({team})?$expand=teammembership_association($select=systemuserid)"
    assert [each["systemuserid"] for each in crm.get(members)["teammembership_association"]] == [user]
    member = f"teams({team})/teammembership_association({user})/$ref"
    for _ in range(2):
        # Nothing is left to do the second time, which Dataverse does not mind.
        assert crm.send("DELETE", member).status_code == 204
        assert crm.get(members)["teammembership_association"] == []


def test_ends_of_a_many_to_many_relationship_that_are_not_there_are_named(crm: Crm) -> None:
    team = crm.create("teams", {"name": "Alone", "businessunitid@odata.bind": business_unit(crm)})
    user = crm.get("WhoAmI")["UserId"]
    nobody = "11111111-1111-4111-8111-111111111111"
    for own, other, missing in ((team, nobody, "systemuser"), (nobody, user, "team")):
        nav = f"teams({own})/teammembership_association"
        said = (404, "0x80040217", f"{missing} With Id = {nobody} Does Not Exist")
        assert crm.error("POST", f"{nav}/$ref", json={"@odata.id": f"systemusers({other})"}) == said
        assert crm.error("DELETE", f"{nav}({other})/$ref") == said


def test_a_record_that_others_need_is_not_deleted(crm: Crm) -> None:
    status, code, _ = crm.error("DELETE", business_unit(crm).lstrip("/"))
    assert (status, code) == (405, "0x80040227")


def test_a_record_cannot_be_renumbered(crm: Crm, account: str) -> None:
    assert change(crm, account, {"accountid": FIRST_ACCOUNT}) == 400


def business_unit(crm: Crm) -> str:
    return f"/businessunits({crm.get('WhoAmI')['BusinessUnitId']})"
