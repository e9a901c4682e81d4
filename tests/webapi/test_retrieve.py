from __future__ import annotations

from crmbox.demo.people import FIRST_ACCOUNT, FIRST_CONTACT
from tests.webapi.crm import ANNOTATED, Crm


def test_the_service_document_lists_the_entity_sets(crm: Crm) -> None:
    document = crm.get("")
    assert document["@odata.context"] == f"{crm.base}$metadata"
    assert {"name": "accounts", "kind": "EntitySet", "url": "accounts"} in document["value"]


def test_selected_columns_come_with_the_key_and_the_version(crm: Crm) -> None:
    record = crm.get(f"accounts({FIRST_ACCOUNT})?$select=name")
    assert record["@odata.context"] == f"{crm.base}$metadata#accounts(name)/$entity"
    assert record["@odata.etag"].startswith('W/"')
    assert set(record) == {"@odata.context", "@odata.etag", "accountid", "name"}


def test_annotations_come_when_asked_for(crm: Crm) -> None:
    record = crm.get(f"contacts({FIRST_CONTACT})?$select=statecode,_ownerid_value", headers=ANNOTATED)
    assert record["statecode@OData.Community.Display.V1.FormattedValue"] == "Active"
    assert record["_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname"] == "systemuser"
    assert record["_ownerid_value@Microsoft.Dynamics.CRM.associatednavigationproperty"] == "ownerid"
    assert record["_ownerid_value@OData.Community.Display.V1.FormattedValue"]


def test_a_current_version_is_not_sent_again(crm: Crm) -> None:
    tag = crm.get(f"accounts({FIRST_ACCOUNT})")["@odata.etag"]
    path = f"accounts({FIRST_ACCOUNT})?$select=name"
    assert crm.send("GET", path, headers={"If-None-Match": tag}).status_code == 304
    assert crm.send("GET", path, headers={"If-None-Match": "null"}).status_code == 200
    assert crm.send("GET", path, headers={"If-None-Match": tag, **ANNOTATED}).status_code == 200


def test_a_record_is_found_by_its_alternate_key(crm: Crm) -> None:
    record = crm.get("accounts(accountnumber='A-00001')?$select=name")
    assert record["accountid"] == FIRST_ACCOUNT
    assert crm.get(f"accounts(accountid={FIRST_ACCOUNT.upper()})?$select=name") == {
        **record,
        "@odata.context": f"{crm.base}$metadata#accounts(name)/$entity",
    }


def test_what_is_not_there_is_said_in_the_platforms_words(crm: Crm) -> None:
    missing = "00000000-0000-4000-8000-0000000000ff"
    assert crm.error("GET", f"accounts({missing})") == (
        404,
        "0x80040217",
        f"account With Id = {missing} Does Not Exist",
    )
    assert crm.error("GET", "nonsense(1)")[:2] == (404, "0x8006088a")
    for key in ("None of these", "Two%0Alines"):
        assert crm.error("GET", f"accounts(accountnumber='{key}')")[:2] == (404, "0x80060891")
    assert crm.error("GET", f"accounts({FIRST_ACCOUNT})?$select=nme")[:2] == (400, "0x80060888")
    assert crm.error("GET", "accounts(name='Contoso')")[0] == 400
    assert crm.error("GET", "accounts(name='Contoso)")[0] == 400


def test_an_unsupported_request_says_its_name(crm: Crm) -> None:
    status, _, message = crm.error("POST", "WhoAmI", json={})
    assert status == 501
    assert "POST WhoAmI" in message


def test_nothing_is_served_beside_the_root(crm: Crm) -> None:
    server = crm.server.url.removesuffix("/contoso")
    for path in ("/api/data/v9.2/accounts", "/another/api/data/v9.2/accounts", "/contosos/", "/"):
        assert crm.send("GET", server + path).status_code == 404, path
