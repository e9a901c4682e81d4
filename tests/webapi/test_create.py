from __future__ import annotations

import uuid

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, FIRST_CONTACT, MAX_MANAGER, NORTH_FIELD, RITA_REP
from tests.webapi.crm import REPRESENTED, Crm

MISSING = "00000000-0000-4000-8000-0000000000ff"


def test_a_created_record_is_where_the_headers_say(crm: Crm) -> None:
    answer = crm.send("POST", "accounts", json={"name": "Fourth Coffee", "revenue": 922337203685477.25})
    assert (answer.status_code, answer.content) == (204, b"")
    url = answer.headers["OData-EntityId"]
    assert url == answer.headers["Location"]
    assert url.startswith(f"{crm.base}accounts(")
    assert url.endswith(")")
    assert crm.get(f"{url}?$select=name")["name"] == "Fourth Coffee"


def test_amounts_keep_every_digit(crm: Crm) -> None:
    body = '{"name": "Exact", "revenue": 922337203685477.5807}'
    answer = crm.send("POST", "accounts?$select=revenue", data=body, headers=REPRESENTED)
    assert '"revenue":922337203685477.5807' in answer.text


def test_the_representation_comes_when_preferred(crm: Crm) -> None:
    answer = crm.send(
        "POST", "contacts?$select=fullname", json={"firstname": "Ada", "lastname": "L"}, headers=REPRESENTED
    )
    assert answer.status_code == 201
    assert answer.headers["Preference-Applied"] == "return=representation"
    assert "OData-EntityId" not in answer.headers
    assert answer.json()["fullname"] == "Ada L"
    assert answer.json()["@odata.context"].endswith("#contacts(fullname)/$entity")


def test_a_client_may_choose_the_id_and_cannot_make_it_twice(crm: Crm) -> None:
    id = str(uuid.uuid4())
    assert crm.create("accounts", {"accountid": id.upper(), "name": "Chosen"}) == id
    status, code, _ = crm.error("POST", "accounts", json={"accountid": id, "name": "Again"})
    assert (status, code) == (412, "0x80040237")


def test_the_id_of_an_activity_cannot_be_taken_twice(crm: Crm) -> None:
    """Its primary key is `activityid`, whatever the entity is called."""
    id = crm.create("emails", {"subject": "Chosen"})
    status, code, _ = crm.error("POST", "emails", json={"activityid": id, "subject": "Again"})
    assert (status, code) == (412, "0x80040237")


@pytest.mark.parametrize(
    "url",
    [
        "/contacts({})",
        "contacts({})",
        "{base}contacts({})",
        "contacts(contactid={})",
    ],
)
def test_lookups_are_bound_by_urls_of_every_form(crm: Crm, url: str) -> None:
    bound = url.format(FIRST_CONTACT, base=crm.base)
    id = crm.create("accounts", {"name": "Bound", "primarycontactid@odata.bind": bound})
    assert crm.get(f"accounts({id})")["_primarycontactid_value"] == FIRST_CONTACT


def test_a_lookup_is_bound_by_an_alternate_key(crm: Crm) -> None:
    values = {"lastname": "B", "parentcustomerid_account@odata.bind": "accounts(accountnumber='A-00001')"}
    record = crm.get(f"contacts({crm.create('contacts', values)})")
    assert record["_parentcustomerid_value"] == FIRST_ACCOUNT


def test_related_records_are_made_in_one_request(crm: Crm) -> None:
    body = {
        "name": "Deep",
        "primarycontactid": {"lastname": "Primary", "gendercode": 1},
        "contact_customer_accounts": [
            {"lastname": "First", "ownerid@odata.bind": f"/teams({NORTH_FIELD})"},
            {"lastname": "Second"},
        ],
    }
    id = crm.create("accounts", body)
    primary = crm.get(f"accounts({id})/primarycontactid?$select=lastname,gendercode")
    assert (primary["lastname"], primary["gendercode"]) == ("Primary", 1)
    contact = crm.create("contacts", {"lastname": "x"})
    assert contact != primary["contactid"]


def test_nothing_is_made_when_a_related_record_is_wrong(crm: Crm) -> None:
    id = str(uuid.uuid4())
    body = {"accountid": id, "name": "Deep", "contact_customer_accounts": [{"gendercode": 99}]}
    assert crm.error("POST", "accounts", json=body)[0] == 400
    assert crm.error("GET", f"accounts({id})")[0] == 404


def test_createdby_is_whom_the_request_acts_for(crm: Crm) -> None:
    rita = crm.acting_as(MSCRMCallerID=RITA_REP)
    record = rita.get(f"accounts({rita.create('accounts', {'name': 'Hers'})})")
    assert record["_createdby_value"] == RITA_REP
    assert record["_ownerid_value"] == RITA_REP


def test_a_record_is_made_in_a_related_collection(crm: Crm) -> None:
    id = crm.create(f"accounts({FIRST_ACCOUNT})/contact_customer_accounts", {"lastname": "There"})
    assert crm.get(f"contacts({id})")["_parentcustomerid_value"] == FIRST_ACCOUNT


def test_what_the_platform_fills_in_itself_is_left_to_it(crm: Crm) -> None:
    id = crm.create("accounts", {"name": "Old", "createdon": "1999-01-01T00:00:00Z", "versionnumber": 1})
    assert crm.get(f"accounts({id})")["createdon"] > "2020"


@pytest.mark.parametrize(
    ("body", "status", "code", "part"),
    [
        ({"nme": "x"}, 400, "0x80048d19", "Invalid property 'nme'"),
        ({"name": 5}, 400, "0x80048d19", "'name'"),
        ({"name": "x" * 161}, 400, "0x80044331", "'name'"),
        ({"name": "x", "numberofemployees": -1}, 400, "0x80044330", "'numberofemployees'"),
        ({"name": "x", "industrycode": 99999}, 400, "0x8004431a", "'industrycode'"),
        ({"name": "x", "_primarycontactid_value": MISSING}, 400, "0x80048d19", "odata.bind"),
        ({"name": "x", "primarycontactid": MISSING}, 400, "0x80048d19", "PrimitiveValue"),
        ({"name": "x", "PrimaryContactId@odata.bind": "/contacts(1)"}, 400, "0x80048d19", "undeclared"),
        ({"name": "x", "primarycontactid@odata.bind": "/contacts(1)"}, 400, "0x80060888", "GUID"),
        ({"name": "x", "primarycontactid@odata.bind": f"/accounts({MISSING})"}, 400, "0x80048d19", "leads"),
        ({"name": "x", "primarycontactid@odata.bind": f"/contacts({MISSING})"}, 404, "0x80040217", MISSING),
        ({"name": "x", "primarycontactid@odata.bind": "http://["}, 400, "0x80060888", "syntax"),
        ({"name": "x", "primarycontactid@odata.bind": "$1"}, 400, "0x80048d19", "'$1' does not exist"),
        ({"name": "x", "accountid": "nonsense"}, 400, "0x80048d19", "accountid"),
    ],
)
def test_a_wrong_body_is_refused_with_its_code(
    crm: Crm, body: dict[str, object], status: int, code: str, part: str
) -> None:
    error = crm.error("POST", "accounts", json=body)
    assert error[:2] == (status, code)
    assert part in error[2]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"name": NaN}', b'{"name": "a", "name": "b"}', b"\xff"])
def test_what_is_no_json_object_is_refused(crm: Crm, body: bytes) -> None:
    assert crm.error("POST", "accounts", data=body)[0] == 400


def test_every_wrong_value_is_listed(crm: Crm) -> None:
    answer = crm.send("POST", "accounts", json={"name": "x" * 161, "numberofemployees": -1})
    details = answer.json()["error"]["details"]
    assert {(item["target"], item["code"]) for item in details} == {
        ("name", "too_long"),
        ("numberofemployees", "out_of_range"),
    }


def test_an_owner_is_a_user_or_a_team(crm: Crm) -> None:
    id = crm.create("accounts", {"name": "Owned", "ownerid@odata.bind": f"/systemusers({MAX_MANAGER})"})
    assert crm.get(f"accounts({id})/ownerid?$select=fullname")["fullname"] == "Max Manager"
