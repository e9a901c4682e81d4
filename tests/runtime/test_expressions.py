"""Expressions of entity properties: what they see of a call, and who is told where they lead nowhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from designer.models import Binding, Fetcher, Input
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, an_account, endpoint, stored

OWNER = """<fetch><entity name="systemuser"><attribute name="fullname"/>
<filter><condition attribute="systemuserid" operator="eq-userid"/></filter></entity></fetch>"""


def _bind(expression: str, attribute: str = "description", kind: str = "create") -> None:
    Binding.objects.create(
        endpoint=endpoint(kind), position=99, attribute=attribute, source="expression", value=expression
    )


def _created(caller: Caller, **body: Any) -> Any:
    answer = caller.post(ACCOUNTS, {"name": "Contoso", **body})
    assert answer.status_code == 200, answer.content
    return stored(f"{ACCOUNTS}/{answer.json()['id']}", "description")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("input.name + ' ' + coalesce(input.phone, 'without phone')", "Contoso without phone"),
        ("input.phone", None),
        ("string(input.revenue)", "12.50"),
        ("format('{:#,##0.00}', mul(input.revenue, 1000))", "12,500.00"),
        ("join(user.roles)", "sales-rep"),
        ("fetch.me.fullname == user.fullName ? 'me' : 'somebody else'", "me"),
        ("dateOf(now) == today() ? 'today' : ''", "today"),
    ],
)
def test_an_expression_sees_the_call(rita: Caller, expression: str, expected: str | None) -> None:
    Fetcher.objects.create(endpoint=endpoint("create"), name="me", query=OWNER)
    _bind(expression)
    assert _created(rita, revenue="12.50") == expected


def test_what_is_reckoned_with_money_keeps_every_digit(rita: Caller) -> None:
    Binding.objects.filter(endpoint=endpoint("create"), attribute="revenue").delete()
    _bind("sub(input.revenue, '0.0001')", "revenue")
    answer = rita.post(ACCOUNTS, {"name": "x", "revenue": "922337203685477.5807"})
    assert stored(f"{ACCOUNTS}/{answer.json()['id']}", "revenue") == Decimal("922337203685477.5806")


def test_an_update_may_compute_with_what_is_there(rita: Caller) -> None:
    _bind("record.name + ' → ' + coalesce(input.name, record.name)", kind="update")
    path = an_account(name="Old")
    assert rita.patch(path, {"name": "New"}).status_code == 204
    assert stored(path, "description") == "Old → New"


@pytest.mark.parametrize(
    ("expression", "body", "errors"),
    [
        ("input.phone + '!'", {}, {"/phone": "not_computable"}),
        ("addDays(input.phone, 1)", {"phone": "tomorrow"}, {"/phone": "not_computable"}),
        ("input.name + addDays(input.phone, 1)", {"phone": "x"},
         {"/name": "not_computable", "/phone": "not_computable"}),
        ("add(input.revenue, 'x')", {"revenue": 1}, {"/revenue": "not_computable"}),
        ("1 / 0", {}, None),
    ],
)  # fmt: skip
def test_what_inputs_lead_to_is_said_of_them(
    rita: Caller, expression: str, body: dict[str, Any], errors: dict[str, str] | None
) -> None:
    _bind(expression)
    answer = rita.post(ACCOUNTS, {"name": "Contoso", **body})
    if errors is None:
        assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")
    else:
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
        assert {error["pointer"]: error["code"] for error in answer.json()["errors"]} == errors


def test_a_text_that_becomes_too_long_is_said_of_its_inputs(rita: Caller) -> None:
    _bind("input.name + input.name", "accountnumber")
    answer = rita.post(ACCOUNTS, {"name": "a" * 20})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"pointer": "/name", "code": "too_long", "message": "At most 20 characters."}
    ]


def test_an_input_that_only_an_expression_reads_may_be_left_out(rita: Caller) -> None:
    Input.objects.create(endpoint=endpoint("create"), name="note")
    _bind("input.note == null ? 'nothing' : input.note")
    assert _created(rita) == "nothing"
    assert _created(rita, note="something") == "something"
