from __future__ import annotations

import base64
from typing import Any

import pytest

from crmbox.demo.people import RITA_REP
from tests.servers import Site
from tests.webapi.crm import Crm, service

RIGHTS = ("Create", "Read", "Write", "Delete", "Append", "AppendTo", "Assign", "Share")
TYPE = {"@odata.type": "Microsoft.Dynamics.CRM.account"}


@pytest.fixture
def account(crm: Crm) -> str:
    return f"accounts({crm.create('accounts', {'name': 'Wingtip', 'revenue': 5})})"


def test_an_unbound_action_answers_its_outputs(crm: Crm) -> None:
    answer = crm.send("POST", "new_Ping", json={"Message": "it's me"})
    assert answer.status_code == 200
    assert answer.json() == {
        "@odata.context": f"{crm.base}$metadata#Microsoft.Dynamics.CRM.new_PingResponse",
        "Echo": "it's me",
    }


@pytest.mark.parametrize(
    "url",
    ["new_Ping(Message='it''s me')", "new_Ping(Message=@p1)?@p1='it''s me'", "new_Ping(Message=@p)?@p=null"],
)
def test_a_function_takes_its_parameters_from_the_url(crm: Crm, url: str) -> None:
    answer = crm.send("GET", url)
    assert answer.status_code == (200 if "me" in url else 400)
    if answer.ok:
        assert answer.json()["Echo"] == "it's me"


@pytest.mark.parametrize("literal", ["--5", "5-", "²", "Infinity", "sNaN"])
def test_what_is_nearly_a_number_in_a_url_is_a_text(crm: Crm, literal: str) -> None:
    assert crm.get(f"new_Ping(Message={literal})")["Echo"] == literal


def test_a_bound_action_runs_on_its_record_as_the_caller(crm: Crm, account: str) -> None:
    rita = crm.acting_as(MSCRMCallerID=RITA_REP)
    url = f"{account}/Microsoft.Dynamics.CRM.new_Approve"
    assert rita.send("POST", url, json={"Comment": "Fine"}).json()["Approved"] is True
    [note] = crm.get(f"{account}/account_annotation?$select=notetext,_createdby_value")["value"]
    assert (note["notetext"], note["_createdby_value"]) == ("Fine", RITA_REP)


def test_a_refusal_keeps_its_own_words(crm: Crm, account: str) -> None:
    crm.send("PATCH", account, json={"statecode": 1})
    url = f"{account}/Microsoft.Dynamics.CRM.new_Approve"
    assert crm.error("POST", url, json={"Comment": "x"}) == (
        400,
        "0x80040265",
        "Wingtip is inactive and cannot be approved.",
    )


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("new_Ping", {"Massage": "x"}, 400),
        ("new_Ping", {"Message": 5}, 400),
        ("new_Ping", {}, 400),
        ("new_Pong", {}, 404),
        ("new_Approve", {"Comment": "x"}, 404),
        (
            "accounts(00000000-0000-4000-8000-0000000000ff)/Microsoft.Dynamics.CRM.new_Approve",
            {"Comment": "x"},
            404,
        ),
        ("accounts/Microsoft.Dynamics.CRM.Fly", {}, 501),
        ("QualifyLead", {}, 501),
        (
            "systemusers(00000000-0000-4000-8000-0000000000ff)/Microsoft.Dynamics.CRM.SetParentSystemUser",
            {},
            501,
        ),
    ],
)
def test_a_wrong_call_of_an_operation_is_refused(
    crm: Crm, path: str, body: dict[str, Any], status: int
) -> None:
    assert crm.error("POST", path, json=body)[0] == status


def many(crm: Crm, action: str, *targets: dict[str, Any]) -> Any:
    body = {"Targets": [{**TYPE, **target} for target in targets]}
    return crm.send("POST", f"accounts/Microsoft.Dynamics.CRM.{action}", json=body)


def test_many_records_are_created_and_updated_at_once(crm: Crm) -> None:
    ids = many(crm, "CreateMultiple", {"name": "One"}, {"name": "Two"}).json()["Ids"]
    assert [crm.get(f"accounts({id})")["name"] for id in ids] == ["One", "Two"]
    changed = many(crm, "UpdateMultiple", *({"accountid": id, "name": "Both"} for id in ids))
    assert changed.status_code == 204
    assert {crm.get(f"accounts({id})")["name"] for id in ids} == {"Both"}


def test_many_records_are_written_together_or_not_at_all(crm: Crm, account: str) -> None:
    id = account[len("accounts(") : -1]
    missing = "00000000-0000-4000-8000-0000000000ff"
    targets = ({"accountid": id, "name": "Changed"}, {"accountid": missing, "name": "x"})
    assert many(crm, "UpdateMultiple", *targets).status_code == 404
    assert crm.get(account)["name"] == "Wingtip"
    assert many(crm, "CreateMultiple", {"name": "Fine"}, {"name": "x" * 161}).status_code == 400
    assert crm.get("accounts?$filter=name eq 'Fine'")["value"] == []


def test_many_records_are_upserted_by_key(crm: Crm, account: str) -> None:
    key = "accounts(accountnumber='M-1')"
    id = account[len("accounts(") : -1]
    for name in ("Made", "Changed"):
        answer = many(
            crm, "UpsertMultiple", {"@odata.id": key, "name": name}, {"accountid": id, "name": name}
        )
        assert answer.status_code == 204
        assert [crm.get(path)["name"] for path in (key, account)] == [name, name]
    repeated = many(crm, "UpsertMultiple", {"@odata.id": key, "accountnumber": "M-1"})
    assert repeated.status_code == 400


@pytest.mark.parametrize("body", [{}, {"Targets": {}}, {"Targets": [1]}, {"Targets": [{"name": "x"}]}])
def test_wrong_targets_are_refused(crm: Crm, body: dict[str, Any]) -> None:
    assert crm.error("POST", "accounts/Microsoft.Dynamics.CRM.CreateMultiple", json=body)[0] == 400


def test_a_file_goes_up_and_down_in_blocks(crm: Crm, account: str) -> None:
    target = {**TYPE, "accountid": account[len("accounts(") : -1]}
    column = {"Target": target, "FileAttributeName": "new_contract"}
    begun = crm.send("POST", "InitializeFileBlocksUpload", json={**column, "FileName": "a.bin"}).json()
    token = {"FileContinuationToken": begun["FileContinuationToken"]}
    for block, content in (("b", b"World"), ("a", b"Hello ")):
        body = {**token, "BlockId": block, "BlockData": base64.b64encode(content).decode()}
        assert crm.send("POST", "UploadBlock", json=body).status_code == 204
    commit = {**token, "FileName": "a.txt", "MimeType": "text/plain", "BlockList": ["a", "b"]}
    made = crm.send("POST", "CommitFileBlocksUpload", json=commit).json()
    assert made["FileSizeInBytes"] == 11
    down = crm.send("POST", "InitializeFileBlocksDownload", json=column).json()
    assert (down["FileName"], down["FileSizeInBytes"]) == ("a.txt", 11)
    token = {"FileContinuationToken": down["FileContinuationToken"]}
    piece = crm.send("POST", "DownloadBlock", json={**token, "Offset": 6, "BlockLength": 100}).json()
    assert base64.b64decode(piece["Data"]) == b"World"
    assert crm.send("POST", "DeleteFile", json={"FileId": made["FileId"]}).status_code == 204
    assert crm.error("GET", f"{account}/new_contract/$value")[0] == 404


def test_what_only_dataverse_has_is_named(crm: Crm) -> None:
    assert crm.error("GET", "RetrieveUserQueues()")[2] == (
        "This server does not support the message RetrieveUserQueues."
    )
    assert crm.error("POST", f"{crm.server.url}/api/search/v2.0/query", json={})[0] == 501


def test_the_organisation_describes_itself(crm: Crm) -> None:
    assert crm.get("RetrieveVersion()")["Version"].startswith("9.2.")
    detail = crm.get("RetrieveCurrentOrganization(AccessType=@p1)?@p1=EndpointAccessType'Default'")["Detail"]
    assert detail["OrganizationId"] == crm.get("WhoAmI")["OrganizationId"]
    assert crm.base.startswith(detail["Endpoints"]["Values"][0])


def test_records_are_counted_by_entity(crm: Crm) -> None:
    answer = crm.get('RetrieveTotalRecordCount(EntityNames=["account","contact"])')
    counts = answer["EntityRecordCountCollection"]
    assert counts["Keys"] == ["account", "contact"]
    assert counts["Values"][1] == int(crm.send("GET", "contacts/$count").text.lstrip("\ufeff"))
    for wrong in ('["yeti"]', '[["account"]]', '[{"a":1}]'):
        path = "RetrieveTotalRecordCount(EntityNames=@p1)"
        assert crm.error("GET", path, params={"@p1": wrong})[0] == 400


@pytest.mark.parametrize("version", ["v8.2", "v9.0", "v9.1"])
def test_earlier_versions_are_answered_at_their_own_address(crm: Crm, account: str, version: str) -> None:
    base = crm.base.replace("v9.2", version)
    url = f"{base}contacts"
    made = crm.send(
        "POST", url, json={"lastname": "x", "parentcustomerid_account@odata.bind": base + account}
    )
    assert made.headers["OData-EntityId"].startswith(url)


@pytest.mark.parametrize("principal", ["systemusers", "teams"])
def test_who_may_do_what_with_a_record_is_told(
    crm_site: Site, crm: Crm, account: str, principal: str
) -> None:
    less = service(crm_site.start_crm(CRM_SERVER_DENIED="prvDeleteAccount,prvShareAccount"))
    [someone, *_] = crm.get(f"{principal}?$select=name" if principal == "teams" else principal)["value"]
    who = f"{principal}({someone['teamid' if principal == 'teams' else 'systemuserid']})"
    call = f"{who}/Microsoft.Dynamics.CRM.RetrievePrincipalAccess(Target=@record)"
    record = {"@record": f"{{'@odata.id':'{account}'}}"}

    def rights(server: Crm, params: dict[str, str]) -> set[str]:
        return set(server.get(call, params=params)["AccessRights"].split(", "))

    everything = {f"{right}Access" for right in RIGHTS}
    assert rights(crm, record) == everything
    assert rights(less, record) == everything - {"DeleteAccess", "ShareAccess"}
    # What belongs to the organisation has no owner to whom it could be assigned.
    [unit, *_] = crm.get("businessunits?$select=businessunitid")["value"]
    of_unit = {"@record": f"{{'@odata.id':'businessunits({unit['businessunitid']})'}}"}
    assert rights(crm, of_unit) == everything - {"AssignAccess", "ShareAccess"}

    nothing = {"@record": "{'@odata.id':'accounts(00000000-0000-4000-8000-0000000000ff)'}"}
    assert crm.error("GET", call, params=nothing)[0] == 404
    assert crm.error("GET", call, params={"@record": "5"})[0] == 400
    assert crm.error("POST", call, params=record)[0] == 501
