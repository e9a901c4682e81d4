"""`$expand`, and the collections below a record."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, KEY_ACCOUNTS
from tests.webapi.crm import Crm


@pytest.fixture(scope="module")
def people(crm: Crm) -> list[dict[str, Any]]:
    """The contacts of the first account, by name."""
    rows: list[dict[str, Any]] = crm.get(
        f"contacts?$select=fullname&$filter=_parentcustomerid_value eq {FIRST_ACCOUNT}&$orderby=fullname"
    )["value"]
    assert len(rows) > 2
    return rows


def test_a_lookup_is_expanded_to_its_record(crm: Crm) -> None:
    path = "accounts?$select=_primarycontactid_value&$top=20&$expand=primarycontactid($select=fullname)"
    for row in crm.get(path)["value"]:
        contact = row["primarycontactid"]
        assert (contact and contact["contactid"]) == row["_primarycontactid_value"]
        assert contact is None or set(contact) == {"@odata.etag", "contactid", "fullname"}


def test_an_owner_says_of_what_type_it_is(crm: Crm) -> None:
    record = crm.get(f"accounts({FIRST_ACCOUNT})?$select=name&$expand=ownerid")
    assert record["ownerid"]["@odata.type"] == "#Microsoft.Dynamics.CRM.systemuser"


def test_a_reference_gives_the_address_alone(crm: Crm) -> None:
    record = crm.get(
        f"accounts({FIRST_ACCOUNT})?$select=_primarycontactid_value&$expand=primarycontactid/$ref"
    )
    assert record["primarycontactid"] == {
        "@odata.id": f"{crm.base}contacts({record['_primarycontactid_value']})"
    }


def test_a_collection_is_expanded_with_options_of_its_own(crm: Crm, people: list[dict[str, Any]]) -> None:
    path = (
        "$select=name&$expand=contact_customer_accounts($select=fullname;$orderby=fullname desc;$top=2;"
        "$expand=ownerid($select=fullname))"
    )
    record = crm.get(f"accounts({FIRST_ACCOUNT})?{path}")
    contacts = record["contact_customer_accounts"]
    assert [person["fullname"] for person in contacts] == [p["fullname"] for p in reversed(people)][:2]
    assert all(person["ownerid"]["fullname"] for person in contacts)
    many = crm.get(f"accounts?{path}&$filter=accountid eq {FIRST_ACCOUNT} or name eq 'Nobody'")["value"]
    assert many[0]["contact_customer_accounts"] == contacts


def test_the_next_link_of_an_expanded_collection_reads_it_on_its_own(
    crm: Crm, people: list[dict[str, Any]]
) -> None:
    record = crm.get(
        f"accounts({FIRST_ACCOUNT})?$select=name&$expand=contact_customer_accounts($select=fullname;"
        "$filter=contains(fullname,'a') and fullname ne 'a;b')"
    )
    link = record["contact_customer_accounts@odata.nextLink"]
    assert link.startswith(f"{crm.base}accounts({FIRST_ACCOUNT})/contact_customer_accounts?")
    assert crm.get(link)["value"] == record["contact_customer_accounts"]


def test_a_many_to_many_collection_is_expanded(crm: Crm) -> None:
    team = crm.get(f"teams({KEY_ACCOUNTS})?$expand=teammembership_association($select=fullname)")
    members = {user["systemuserid"] for user in team["teammembership_association"]}
    below = crm.get(f"teams({KEY_ACCOUNTS})/teammembership_association?$select=fullname")["value"]
    assert members == {user["systemuserid"] for user in below}
    assert members


def test_related_records_are_a_collection_too(crm: Crm, people: list[dict[str, Any]]) -> None:
    base = f"accounts({FIRST_ACCOUNT})/contact_customer_accounts"
    assert crm.get(f"{base}?$select=fullname&$orderby=fullname")["value"] == people
    assert crm.send("GET", f"{base}/$count").text == str(len(people))
    references = crm.get(f"{base}/$ref")["value"]
    assert {item["@odata.id"] for item in references} == {
        f"{crm.base}contacts({person['contactid']})" for person in people
    }
    missing = "accounts(00000000-0000-4000-8000-0000000000ff)/contact_customer_accounts"
    assert crm.error("GET", missing)[0] == 404


@pytest.mark.parametrize(
    ("expand", "status"),
    [
        ("nonsense", 400),
        ("name", 400),
        ("PrimaryContactId", 400),
        ("contact_customer_accounts/$ref", 400),
        ("primarycontactid($select=nonsense)", 400),
        ("primarycontactid($nonsense=1)", 400),
        ("primarycontactid($select=fullname", 400),
        ("contact_customer_accounts($skip=1)", 501),
        (",".join(["primarycontactid"] * 16), 400),
        ("parentaccountid($expand=" * 200 + "ownerid" + ")" * 200, 400),
    ],
)
def test_a_wrong_expansion_is_refused(crm: Crm, expand: str, status: int) -> None:
    assert crm.error("GET", "accounts", params={"$expand": expand})[0] == status
