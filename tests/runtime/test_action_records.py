"""Inputs of actions that hold records: what a process makes of a group of inputs, under row rules."""

from __future__ import annotations

from typing import Any

import pytest

from crmclient.query.ast import Column as QueryColumn
from crmclient.query.ast import Condition, Filter, Operator, Query
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input, Module
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import ruled
from tests.runtime.accounts import NOBODY

WIN = "/api/sales/actions/win"


def _sale(name: str = "Wool", **values: Any) -> str:
    return get_platform().create("opportunity", {"name": name, **values}).id


@pytest.fixture(autouse=True)
def win(portico: None) -> Endpoint:
    """`win`: a status, and the record `close` with subject, revenue and the opportunity."""
    row = Endpoint.objects.create(
        module=Module.objects.get(segment="sales"),
        kind="global-action",
        name="win",
        settings={"process": "WinOpportunity", "show_process_message": True},
        authentication_required=False,
    )
    status = Input.objects.create(endpoint=row, position=0, name="status", type="Integer", required=True)
    Binding.objects.create(endpoint=row, attribute="Status", value=status.name)
    close = Input.objects.create(
        endpoint=row, position=1, name="close", type="Record", required=True, relationship="OpportunityClose"
    )
    inputs: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("subject", "subject", {}),
        ("revenue", "actualrevenue", {"type": "Money"}),
        ("opportunity", "opportunityid", {"type": "EntityReference", "required": True}),
    )
    for at, (name, attribute, more) in enumerate(inputs):
        Input.objects.create(endpoint=row, parent=close, position=at, name=name, **more)
        Binding.objects.create(endpoint=row, parent=close, position=at, attribute=attribute, value=name)
    return row


def _state(id: str) -> object:
    return get_platform().retrieve("opportunity", id, ("statecode",)).values["statecode"]


def _closes(id: str) -> list[dict[str, Any]]:
    about = Filter((Condition("opportunityid", Operator.EQ, (id,)),))
    return list(get_platform().query(Query("opportunityclose", (QueryColumn("subject"),), about)).rows)


def _errors(answer: Any) -> dict[str, str]:
    return {error["pointer"]: error["code"] for error in answer.json()["errors"]}


def test_the_group_of_inputs_becomes_the_record(anonymous: Caller) -> None:
    id = _sale()

    answer = anonymous.post(
        WIN, {"status": 3, "close": {"subject": "Signed", "revenue": 5, "opportunity": id}}
    )

    assert (answer.status_code, answer.json()) == (200, {})
    assert _state(id) == 1
    assert _closes(id) == [{"subject": "Signed"}]


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ({}, {"/status": "required", "/close": "required"}),
        ({"status": 3, "close": None}, {"/close": "required"}),
        ({"status": 3, "close": []}, {"/close": "wrong_type"}),
        (
            {"status": "x", "close": {"subject": 1, "else": 2}},
            {
                "/status": "wrong_type",
                "/close/subject": "wrong_type",
                "/close/opportunity": "required",
                "/close/else": "unknown_key",
            },
        ),
        (
            {"status": 3, "close": {"subject": "x" * 201, "opportunity": NOBODY}},
            {"/close/subject": "too_long"},
        ),
        (
            {"status": 3, "close": {"revenue": "0.12345", "opportunity": NOBODY}},
            {"/close/revenue": "too_precise"},
        ),
    ],
)
def test_what_is_wrong_is_said_of_its_place(anonymous: Caller, body: object, codes: dict[str, str]) -> None:
    answer = anonymous.post(WIN, body)
    assert answer.status_code == 400, answer.content
    assert _errors(answer) == codes


def test_what_the_platform_finds_wrong_is_said_of_its_place(anonymous: Caller, win: Endpoint) -> None:
    # Nothing of ours looks at the length of what an expression makes.
    win.bindings.filter(attribute="subject").update(
        source="expression", value="input.subject + input.subject"
    )
    id = _sale()

    answer = anonymous.post(WIN, {"status": 3, "close": {"subject": "x" * 150, "opportunity": id}})

    assert (answer.status_code, _errors(answer)) == (400, {"/close/subject": "too_long"})
    assert _state(id) == 0


def test_a_refusal_says_why(anonymous: Caller) -> None:
    id = _sale()
    body = {"status": 3, "close": {"opportunity": id}}
    assert anonymous.post(WIN, body).status_code == 200

    answer = anonymous.post(WIN, body)

    assert (answer.status_code, answer.json()["detail"]) == (422, "The opportunity is closed already.")


def _expose(entity: str, segment: str, rule: str) -> None:
    ExposedEntity.objects.filter(module__segment="sales", entity=entity).delete()
    made = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), entity=entity, segment=segment
    )
    ruled(made, rule)


def test_a_record_may_point_only_at_records_that_callers_reach(anonymous: Caller) -> None:
    mine, other = _sale("Mine"), _sale("Other")
    _expose("opportunity", "sales-chances", _rule("name", "Mine"))

    refused = anonymous.post(WIN, {"status": 3, "close": {"opportunity": other}})

    assert (refused.status_code, _errors(refused)) == (400, {"/close/opportunity": "unknown_target"})
    assert _state(other) == 0
    assert anonymous.post(WIN, {"status": 3, "close": {"opportunity": mine}}).status_code == 200


def test_a_record_outside_of_its_row_rule_is_not_made(anonymous: Caller) -> None:
    id = _sale()
    _expose("opportunityclose", "closes", _rule("subject", "Signed"))

    refused = anonymous.post(WIN, {"status": 3, "close": {"subject": "Lost", "opportunity": id}})

    assert (refused.status_code, refused.json()["code"]) == (403, "outside_row_rule")
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/close"]
    assert _state(id) == 0
    signed = anonymous.post(WIN, {"status": 3, "close": {"subject": "Signed", "opportunity": id}})
    assert signed.status_code == 200


def _rule(attribute: str, value: str) -> str:
    return f'<filter><condition attribute="{attribute}" operator="eq" value="{value}" /></filter>'


@pytest.mark.parametrize("wrong", [{"relationship": "Nothing"}, {"type": "List"}])
def test_records_that_the_process_does_not_make_are_not_served(
    anonymous: Caller, win: Endpoint, wrong: dict[str, str]
) -> None:
    win.inputs.filter(name="close").update(**wrong)
    assert anonymous.post(WIN, {"status": 3, "close": {"opportunity": _sale()}}).status_code == 503


def test_the_id_of_a_record_that_is_made_is_nobodys_to_choose(anonymous: Caller, win: Endpoint) -> None:
    close = win.inputs.get(name="close")
    Binding.objects.create(endpoint=win, parent=close, position=9, attribute="activityid", value="subject")
    assert anonymous.post(WIN, {"status": 3, "close": {"opportunity": _sale()}}).status_code == 503


def test_the_group_is_described(anonymous: Caller) -> None:
    document = anonymous.get("/api/openapi.json").json()
    content = document["paths"][WIN]["post"]["requestBody"]["content"]
    body = content["application/json"]["schema"]
    if "$ref" in body:
        body = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    close = body["properties"]["close"]
    assert close["type"] == "object"
    assert list(close["properties"]) == ["subject", "revenue", "opportunity"]
    assert close["required"] == ["opportunity"]
    assert set(body["required"]) == {"status", "close"}


def test_the_group_is_described_for_forms(anonymous: Caller) -> None:
    process = anonymous.get("/api/schema/processes/sales.win").json()
    call = process.get("call", process)
    fields = {field["name"]: field for field in call["fields"]}
    assert fields["close"]["type"] == "Record"
    assert [field["name"] for field in fields["close"]["items"]] == ["subject", "revenue", "opportunity"]
    # One record is sent, and not what to add, change and remove.
    assert "changes" not in fields["close"]
    form = anonymous.get(call["form"]).json()
    close = form["schema"]["properties"]["close"]
    assert (close["type"], close["properties"]["opportunity"]["title"]) == ("object", "Opportunity")
    assert form["widgets"]["close"]["widget"] == "record"


def test_a_lead_becomes_references(anonymous: Caller) -> None:
    row = Endpoint.objects.create(
        entity=ExposedEntity.objects.create(
            module=Module.objects.get(segment="sales"), entity="lead", segment="open-leads"
        ),
        module=Module.objects.get(segment="sales"),
        kind="action",
        name="qualify",
        settings={"process": "QualifyLead"},
        authentication_required=False,
    )
    for attribute, value in (
        *(("CreateAccount", True), ("CreateContact", True), ("CreateOpportunity", False)),
        ("Status", 3),
    ):
        Binding.objects.create(endpoint=row, attribute=attribute, source="constant", value=value)
    Column.objects.create(endpoint=row, attribute="value", name="made")
    lead = get_platform().create("lead", {"subject": "S", "lastname": "L", "companyname": "Lead Ltd"}).id

    answer = anonymous.post(f"/api/sales/open-leads/{lead}/actions/qualify", {})

    assert answer.status_code == 200, answer.content
    made = answer.json()["made"]
    assert [(each["type"], each["name"]) for each in made] == [("account", None), ("contact", None)]
    assert get_platform().retrieve("account", made[0]["id"], ("name",)).values["name"] == "Lead Ltd"
