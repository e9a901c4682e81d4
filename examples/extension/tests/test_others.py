"""The process, the function of expressions and the user resolver."""

from __future__ import annotations

from typing import Any

import pytest
from driving import SITE, findings, made, stored
from portico_example.customers import CUSTOMERS, resolve

from designer.loading import load
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Role
from designer.models import Column as AnsweredColumn
from designer.platform import get_platform
from runtime.callers import tokens
from runtime.callers.recognition import Recognition
from runtime.http.problems import Problem
from tests.callers import Caller, account


def test_the_process_runs_as_an_action(rita: Caller, portico: None) -> None:
    exposed, _ = ExposedEntity.objects.get_or_create(
        module=Module.objects.get(segment="sales"), segment="greeted", entity="contact"
    )
    row = Endpoint.objects.create(
        kind="action", entity=exposed, name="greet", settings={"process": "example_Greet"}
    )
    Input.objects.create(endpoint=row, name="greeting", required=True)
    Binding.objects.create(endpoint=row, attribute="Greeting", value="greeting")
    AnsweredColumn.objects.create(endpoint=row, attribute="Text", name="text")
    assert [rule for rule in findings(row) if "process" in rule] == []
    contact = get_platform().create("contact", {"firstname": "Ada", "lastname": "Ames"}).id
    answer = rita.post(f"/api/sales/greeted/{contact}/actions/greet", {"greeting": "Hello"})
    assert (answer.status_code, answer.json()) == (200, {"text": "Hello Ada"})
    nameless = get_platform().create("contact", {"lastname": "Ames"}).id
    assert rita.post(f"/api/sales/greeted/{nameless}/actions/greet", {"greeting": "Hello"}).status_code == 422


def test_the_function_is_called_in_expressions(rita: Caller, create: Endpoint) -> None:
    Binding.objects.create(
        endpoint=create,
        attribute="tickersymbol",
        source="expression",
        value="initials(input.name)",
        position=60,
    )
    assert findings(create) == {}
    id = made(rita, site=SITE, name="contoso north").rpartition("/")[2]
    assert stored(id, "tickersymbol") == "CN"


def test_what_the_function_refuses_is_told_by_readiness(create: Endpoint) -> None:
    Binding.objects.create(
        endpoint=create, attribute="tickersymbol", source="expression", value="initials(5)", position=60
    )
    assert any("expression" in rule for rule in findings(create))


def test_customers_are_contacts_by_a_verified_address(portico: None) -> None:
    contact = get_platform().create(
        "contact", {"lastname": "Customer", "emailaddress1": "cara@northwind.example"}
    )
    claims = {"iss": CUSTOMERS, "sub": "7", "email": "cara@northwind.example", "email_verified": True}
    context = Recognition.of(load(), get_platform())
    caller = resolve(claims, context)
    assert caller is not None
    assert (caller.type, caller.record, caller.claims) == (
        "contact",
        contact.id,
        {"email": "cara@northwind.example"},
    )
    for wrong in ({"email_verified": False}, {"email": "nobody@northwind.example"}):
        with pytest.raises(Problem) as refused:
            resolve({**claims, **wrong}, context)
        assert (refused.value.status_code, refused.value.code) == (403, "no_record")


def test_the_resolver_gives_callers_its_role(counts: Endpoint, settings: Any) -> None:
    counts.roles.set([Role.objects.create(name="example")])
    path = f"{made(account('rep'))}/counts/contacts"
    assert account("rep").get(path).status_code == 403
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "example"}
    tokens.forget()
    assert account("rep").get(path).status_code == 200
