"""Example calls: what they find, that they change no record, and what they hold back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection

from crmbox.demo.people import RITA_REP
from crmclient.query.ast import Column, Query
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.documents.document_writer import export, json_bytes
from designer.documents.schema import document_schema
from designer.loading import load
from designer.models import Role
from designer.overview import overview
from designer.platform import get_platform
from runtime.idempotency.models import IdempotencyRecord
from tests.callers import Caller
from tests.designer.commands import refused, run
from tests.runtime.accounts import an_account, endpoint

pytestmark = pytest.mark.usefixtures("portico")

REP = {"roles": ["sales-rep"], "caller_record": RITA_REP}
CREATE = {"name": "a new account", **REP, "body": {"name": "Rehearsed"}, "status": 200}


def document(**calls: list[dict[str, Any]]) -> bytes:
    """What is configured now, with the example calls of the demo's endpoints of accounts, by kind or name."""
    whole = export(load()).to_json()
    for item in whole["endpoints"]:
        called = {item["kind"], item.get("name")} & calls.keys()
        if item.get("exposure") == "accounts" and called and item["kind"] != "download":
            item["example_calls"] = calls[called.pop()]
    return json_bytes(whole)


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., str]:
    def imported(*options: str, **calls: list[dict[str, Any]]) -> str:
        file = tmp_path / "configuration.json"
        file.write_bytes(document(**calls))
        return run("importconfig", file, *options)

    return imported


@pytest.fixture
def not_imported(tmp_path: Path) -> Callable[..., str]:
    def not_imported(*options: str, **calls: list[dict[str, Any]]) -> str:
        file = tmp_path / "configuration.json"
        file.write_bytes(document(**calls))
        return refused("importconfig", file, *options)

    return not_imported


def accounts() -> dict[Any, Any]:
    """The name and version of every account, by its id."""
    query = Query("account", (Column("accountid"), Column("name"), Column("versionnumber")))
    return {row["accountid"]: row for row in get_platform().query(query).rows}


def every_table() -> dict[str, list[str]]:
    """All that the service's database holds."""
    with connection.cursor() as cursor:
        rows_by_table = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows_by_table[table] = sorted(map(repr, cursor.fetchall()))
        return rows_by_table


def test_fifty_calls_change_no_record_and_leave_no_trace(imported: Callable[..., str], rita: Caller) -> None:
    record = an_account(name="Contoso").rpartition("/")[2]
    calls = {
        "create": [
            {**CREATE, "name": f"create {at}", "headers": {"Idempotency-Key": "the same"}} for at in range(20)
        ],
        "update": [
            {**REP, "name": f"update {at}", "record": record, "body": {"name": f"{at}"}, "status": 204}
            for at in range(10)
        ],
        "delete": [
            {
                "roles": ["sales-manager"],
                "name": f"delete {at}",
                "record": record,
                "headers": {"If-Match": "*"},
                "status": 204,
            }
            for at in range(10)
        ],
        "read": [
            {
                **REP,
                "name": f"read {at}",
                "record": record,
                "status": 200,
                "shape": {"name": "string"},
                "values": {"/name": "Contoso"},
                "refused_for": ["customer"],
            }
            for at in range(10)
        ],
    }
    before = accounts()
    assert "Example calls: 50 made, 0 failed." in imported(**calls)
    assert accounts() == before
    stored = every_table()
    assert "Example calls: 50 made, 0 failed." in run("checkconfig", "--calls")
    assert every_table() == stored
    assert not IdempotencyRecord.objects.exists()
    # The same key as theirs is a new one.
    answer = rita.post("/api/sales/accounts", {"name": "Real"}, HTTP_IDEMPOTENCY_KEY="the same")
    assert (answer.status_code, len(accounts())) == (200, len(before) + 1)


def uploads(record: str, **expected: Any) -> dict[str, list[dict[str, Any]]]:
    """A call for the demo's two uploads of accounts: to a column, and as a note."""
    sample = {"name": "sample.pdf", "content_type": "application/pdf", "size": 3_000_000}
    call = {**REP, "record": record, "upload": sample, "status": 200, **expected}
    return {"contract": [{**call, "name": "a contract"}], "notes": [{**call, "name": "a note"}]}


def test_calls_that_send_a_file_leave_none_behind(imported: Callable[..., str]) -> None:
    record = an_account(name="Contoso").rpartition("/")[2]
    said = imported(**uploads(record, values={"/fileName": "sample.pdf", "/size": 3_000_000}))
    assert "Example calls: 2 made, 0 failed." in said
    stored = every_table()
    report = json.loads(run("checkconfig", "--calls", "--json"))
    assert [(call["passed"], call["sent"]) for call in report["calls"]] == [(True, True)] * 2
    assert every_table() == stored


def test_where_files_are_in_a_folder_the_call_ends_before_the_upload(
    imported: Callable[..., str], tmp_path: Path, settings: Any, request: pytest.FixtureRequest
) -> None:
    folder = settings.DATA_DIR = tmp_path / "data"
    settings.PORTICO = {**settings.PORTICO, "CRM_FILES": "disk"}
    request.addfinalizer(get_platform.cache_clear)
    get_platform.cache_clear()
    imported(**uploads(an_account(name="Contoso").rpartition("/")[2]))
    stored = every_table()
    report = json.loads(run("checkconfig", "--calls", "--json"))
    assert [(call["passed"], call["sent"]) for call in report["calls"]] == [(True, False)] * 2
    assert every_table() == stored
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_call_that_would_fail_holds_an_import_back_and_says_why(
    imported: Callable[..., str], not_imported: Callable[..., str]
) -> None:
    record = an_account(name="Contoso").rpartition("/")[2]
    wrong = {
        "create": [
            {**CREATE, "name": "for customers", "roles": ["customer"]},
            {**CREATE, "name": "without a name", "body": {}},
            {**CREATE, "name": "for no rep", "refused_for": ["sales-rep"]},
        ],
        "read": [
            {
                **REP,
                "name": "its answer",
                "record": record,
                "status": 200,
                "shape": {"name": "number", "gone": "string"},
                "values": {"/name": "Fabrikam"},
            }
        ],
    }
    before = export(load())
    said = not_imported(**wrong)
    assert "Example calls: 4 made, 4 failed." in said
    assert "sales.accounts.create, for customers: The status is 403, but 200 was expected." in said
    assert "sales.accounts.create, without a name: The status is 400, but 200 was expected." in said
    assert "name: " in said
    assert "A caller who has only the role “sales-rep” is not refused." in said
    assert "/name is a string, not a number." in said
    assert "The answer has no /gone." in said
    assert "/name does not have the expected value." in said
    # Nothing of the answer is repeated.
    assert "Contoso" not in said
    report = json.loads(not_imported("--json", "--dry-run", **wrong).partition("Nothing was changed.")[0])
    assert [call["passed"] for call in report["calls"]] == [False] * 4
    assert export(load()) == before
    assert "Imported." in imported("--allow-failing-calls", **wrong)
    assert "4 of 4 example calls failed." in refused("checkconfig", "--calls")
    # What fails already does not hold back what changes nothing.
    assert "Nothing to change." in imported(**wrong)


def test_a_call_that_can_no_longer_be_made_as_it_was_kept_is_a_finding(imported: Callable[..., str]) -> None:
    Role.objects.create(name="trainee")
    overview()
    imported(create=[{**CREATE, "roles": ["trainee", "sales-rep"]}])
    assert not [finding for finding in overview().findings if finding.rule == "example-call-outdated"]
    Role.objects.get(name="trainee").delete()
    (finding,) = [finding for finding in overview().findings if finding.rule == "example-call-outdated"]
    assert "names the role “trainee”, which does not exist." in finding.message
    assert (finding.subject, finding.field) == ("sales.accounts.create", "example_calls.a new account")


def test_a_draft_and_what_cannot_be_served_are_not_called(imported: Callable[..., str]) -> None:
    imported("--allow-failing-calls", create=[{**CREATE, "status": 500}])
    assert "1 made, 1 failed" in refused("checkconfig", "--calls")
    row = endpoint("create")
    row.enabled = False
    row.save()
    assert "Example calls: 0 made, 0 failed." in run("checkconfig", "--calls")


def test_results_are_written_for_pipelines(imported: Callable[..., str], tmp_path: Path) -> None:
    imported("--allow-failing-calls", create=[CREATE, {**CREATE, "name": "wrong\x01", "status": 409}])
    report = tmp_path / "calls.xml"
    refused("checkconfig", "--calls", "--junit", report)
    root = ElementTree.fromstring(report.read_bytes())
    (suite,) = root
    assert (root.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert {case.attrib["name"]: [failure.attrib["message"] for failure in case] for case in suite} == {
        "a new account": [],
        "wrong\ufffd": ["The status is 200, but 409 was expected."],
    }


def test_they_are_part_of_the_document_in_one_order(imported: Callable[..., str], tmp_path: Path) -> None:
    second = {**CREATE, "name": "b", "body": {"phone": "1", "name": "B"}, "values": {"/id": 1.5}}
    imported("--allow-failing-calls", create=[second, {**CREATE, "name": "a"}])
    (kept,) = [item.definition for item in load().endpoints.values() if item.definition.example_calls]
    assert [call.name for call in kept.example_calls] == ["a", "b"]
    assert list(kept.to_json()["example_calls"][1]["body"]) == ["name", "phone"]
    run("exportconfig", "--folder", tmp_path / "folder")
    assert "example_calls:" in (
        tmp_path / "folder" / "modules" / "sales" / "endpoints" / "accounts.create.yaml"
    ).read_text(encoding="utf-8")
    assert "Nothing to change." in run("importconfig", tmp_path / "folder")
    assert "ExampleCallDefinition" in document_schema()["$defs"]


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([CREATE, CREATE], "two example calls are called “a new account”. Rename one"),
        ([{**CREATE, "shape": {"name": "text"}}], "a shape is one of string, number, boolean, anything"),
        ([{**CREATE, "values": {"name": "x"}}], "'name' is not a JSON Pointer"),
        ([{**CREATE, "status": 42}], "example_calls[0].status"),
        ([{**CREATE, "upload": {"name": "a", "size": 1}}], "a call sends either “body” or “upload”"),
        ([{**CREATE, "upload": {"name": "a", "size": 2**30}}], "example_calls[0].upload.size"),
    ],
)
def test_what_is_no_example_call_is_refused_with_its_place(
    not_imported: Callable[..., str], calls: list[dict[str, Any]], why: str
) -> None:
    said = not_imported(create=calls)
    assert why in said
    assert "sales.accounts.create" in said


class Remote(StandIn):
    """A platform that cannot take writes back, and counts those that come to it."""

    def __init__(self) -> None:
        super().__init__(get_platform())
        self.conventions = replace(self.conventions, takes_writes_back=False)
        self.writes = 0

    def answer(self, member_call: MemberCall, ask: Callable[[], Any]) -> Any:
        self.writes += member_call.effect is Effect.WRITE
        return ask()


def test_elsewhere_a_write_is_followed_up_to_the_platform_and_not_sent(
    imported: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(
        create=[
            {**CREATE, "refused_for": ["customer"]},
            {**CREATE, "name": "refused", "body": {}, "status": 400},
        ]
    )
    remote = Remote()
    monkeypatch.setattr("runtime.studio.rehearsals.get_platform", lambda: remote)
    report = json.loads(run("checkconfig", "--calls", "--json"))
    assert [(call["passed"], call["sent"]) for call in report["calls"]] == [(True, False), (True, True)]
    assert remote.writes == 0
