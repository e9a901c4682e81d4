"""Actions: a process of the platform, with configured inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from crmbox.demo import people
from crmbox.processes import PROCESSES, Context, process
from crmclient import Reference, Values
from crmclient.errors import InvalidRecord, Refused, WrongType
from crmclient.metadata import AttributeType, ProcessParameter
from crmclient.query.ast import Column as QueryColumn
from crmclient.query.ast import Condition, Filter, Operator, Query
from designer.models import Binding, Column, Endpoint, Input, Module
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account

PING = "/api/sales/actions/ping"


def _notes(path: str) -> list[Any]:
    condition = Condition("objectid", Operator.EQ, (path.rpartition("/")[2],))
    query = Query("annotation", columns=(QueryColumn("notetext"),), filter=Filter((condition,)))
    return [row["notetext"] for row in get_platform().query(query).rows]


def test_approving_does_what_the_process_does(max: Caller) -> None:
    path = an_account()
    answer = max.post(f"{path}/actions/approve", {"comment": "Wir mögen sie ✈"})
    assert answer.status_code == 200, answer.content
    assert answer.json() == {"approved": True}
    assert _notes(path) == ["Wir mögen sie ✈"]


def test_a_global_action_answers_its_outputs(rita: Caller) -> None:
    answer = rita.post(PING, {"message": "hello"})
    assert (answer.status_code, answer.json()) == (200, {"echo": "hello"})


def test_a_refusal_speaks_only_where_it_may(max: Caller) -> None:
    path = an_account(name="Closed & Co", statecode=1)
    answer = max.post(f"{path}/actions/approve", {"comment": "x"})
    assert (answer.status_code, answer.json()["code"]) == (422, "platform_refused")
    assert answer.json()["detail"] == "Closed & Co is inactive and cannot be approved."
    Endpoint.objects.filter(kind="action", name="approve").update(settings={"process": "new_Approve"})
    answer = max.post(f"{path}/actions/approve", {"comment": "x"})
    assert (answer.status_code, answer.json()["code"]) == (422, "platform_refused")
    assert "Closed" not in answer.content.decode()
    assert _notes(path) == []


@pytest.mark.parametrize(("id", "status"), [(NOBODY, 404), ("nonsense", 400)])
def test_an_action_needs_its_record(max: Caller, id: str, status: int) -> None:
    assert max.post(f"{ACCOUNTS}/{id}/actions/approve", {"comment": "x"}).status_code == status


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ({}, {"/message": "required"}),
        (None, {"/message": "required"}),
        ({"message": None}, {"/message": "required"}),
        ({"message": 5, "Message": "x"}, {"/message": "wrong_type", "/Message": "unknown_key"}),
        ({"message": "x" * 201}, {"/message": "too_long"}),
        ({"message": "\0"}, {"/message": "invalid_character"}),
    ],
)
def test_wrong_inputs_are_named(rita: Caller, body: object, codes: dict[str, str]) -> None:
    answer = rita.post(PING, body)
    assert answer.status_code == 400
    assert {error["pointer"]: error["code"] for error in answer.json()["errors"]} == codes


def test_only_json_is_taken(rita: Caller) -> None:
    assert rita.post(PING, b"message=x", content_type="application/x-www-form-urlencoded").status_code == 415
    assert rita.post(f"{PING}?message=x", {"message": "x"}).status_code == 400
    assert rita.get(PING).status_code == 405


def test_roles_are_judged_first(rita: Caller, anonymous: Caller) -> None:
    path = an_account()
    assert rita.post(f"{path}/actions/approve", b"{").status_code == 403
    assert anonymous.post(f"{path}/actions/approve", {"comment": "x"}).status_code == 401
    assert anonymous.post(PING, {"message": "x"}).status_code == 401
    assert _notes(path) == []


def test_a_repetition_under_one_key_runs_the_process_once(max: Caller) -> None:
    path = an_account()
    for _ in range(2):
        answer = max.post(f"{path}/actions/approve", {"comment": "once"}, idempotency_key="approve-1")
        assert answer.json() == {"approved": True}
    assert _notes(path) == ["once"]


# A process with every type, registered as the demo's are.
TYPED: dict[str, tuple[AttributeType, str]] = {
    "Text": (AttributeType.STRING, "String"),
    "Count": (AttributeType.INTEGER, "Integer"),
    "Amount": (AttributeType.MONEY, "Money"),
    "Rate": (AttributeType.DECIMAL, "Decimal"),
    "When": (AttributeType.DATETIME, "DateTime"),
    "Flag": (AttributeType.BOOLEAN, "Boolean"),
    "Choice": (AttributeType.PICKLIST, "OptionSet"),
    "Contact": (AttributeType.LOOKUP, "EntityReference"),
    "Owner": (AttributeType.OWNER, "EntityReference"),
}
TARGETS = {"Contact": ("contact",), "Owner": ("systemuser", "team")}


def _parameters(*, required: bool) -> list[ProcessParameter]:
    return [
        ProcessParameter(name, type, required=required, targets=TARGETS.get(name, ()))
        for name, (type, _) in TYPED.items()
    ]


def _echo(context: Context, inputs: Values) -> Values:
    if inputs["Text"] == "refuse":
        raise Refused("No, because of SECRET.")
    if inputs["Text"] == "invalid":
        raise InvalidRecord("annotation", [WrongType("Text", "SECRET")])
    return dict(inputs)


@pytest.fixture
def echo(portico: None) -> Iterator[str]:
    """A global action whose process answers all that it is sent."""
    echoes = process("test_Echo", inputs=_parameters(required=False), outputs=_parameters(required=False))
    PROCESSES.register(echoes(_echo))
    row = Endpoint.objects.create(
        kind="global-action",
        module=Module.objects.get(segment="sales"),
        name="echo",
        settings={"process": "test_Echo"},
    )
    for name, (_, type) in TYPED.items():
        Input.objects.create(endpoint=row, name=name, type=type)
        Binding.objects.create(endpoint=row, attribute=name, value=name)
        Column.objects.create(endpoint=row, attribute=name)
    yield "/api/sales/actions/echo"
    PROCESSES.pop("test_Echo")


def test_every_type_goes_in_and_comes_out(rita: Caller, echo: str) -> None:
    body = {
        "Text": "x",
        "Count": 7,
        "Amount": "922337203685477.5807",
        "Rate": "0.1",
        "When": "2026-01-31T12:00:00+01:00",
        "Flag": False,
        "Choice": 3,
        "Contact": people.FIRST_CONTACT,
        "Owner": {"type": "team", "id": people.KEY_ACCOUNTS},
    }
    answer = rita.post(echo, body)
    assert answer.status_code == 200, answer.content
    assert b"922337203685477.5807" in answer.content
    shown = answer.json()
    assert shown["when"] == "2026-01-31T11:00:00Z"
    assert (shown["text"], shown["count"], shown["flag"], shown["choice"]) == ("x", 7, False, 3)
    assert Decimal(str(shown["rate"])) == Decimal("0.1")
    assert shown["contact"] == {"id": people.FIRST_CONTACT, "name": None}
    assert shown["owner"] == {"type": "team", "id": people.KEY_ACCOUNTS, "name": None}


def test_outputs_that_are_empty_are_there_and_nothing_need_be_sent(rita: Caller, echo: str) -> None:
    shown = rita.post(echo, content_type="").json()
    assert list(shown) == [name.lower() for name in TYPED]
    assert set(shown.values()) == {None}


def test_every_wrong_type_is_named_at_once(rita: Caller, echo: str) -> None:
    wrong = {name: [1] for name in TYPED}
    answer = rita.post(echo, wrong)
    assert {error["pointer"] for error in answer.json()["errors"]} == {f"/{name}" for name in TYPED}


@pytest.mark.parametrize("text", ["refuse", "invalid"])
def test_what_goes_wrong_inside_a_process_stays_there(rita: Caller, echo: str, text: str) -> None:
    answer = rita.post(echo, {"Text": text})
    assert (answer.status_code, answer.json()["code"]) == (422, "platform_refused")
    assert b"SECRET" not in answer.content


def test_without_columns_the_answer_is_an_empty_object(rita: Caller, echo: str) -> None:
    Column.objects.filter(endpoint__name="echo").delete()
    answer = rita.post(echo, {"Text": "x"})
    assert (answer.status_code, answer.json()) == (200, {})


@pytest.mark.parametrize("chosen", ["", "new_Unknown", "new_Approve"])
def test_an_action_whose_process_does_not_fit_is_503(rita: Caller, echo: str, chosen: str) -> None:
    Endpoint.objects.filter(name="echo").update(settings={"process": chosen})
    assert rita.post(echo, {}).status_code == 503


def test_a_process_gets_the_record_and_acts_for_the_service(max: Caller) -> None:
    path = an_account(ownerid=Reference("systemuser", people.RITA_REP))
    assert max.post(f"{path}/actions/approve", {"comment": "x"}).status_code == 200
    condition = Condition("objectid", Operator.EQ, (path.rpartition("/")[2],))
    query = Query("annotation", columns=(QueryColumn("createdby"),), filter=Filter((condition,)))
    (note,) = get_platform().query(query).rows
    assert getattr(note["createdby"], "id", None) == get_platform().who()
