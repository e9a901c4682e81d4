"""Inputs of type List: contacts created along with their account, all of them or none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crmclient import Reference
from crmclient.errors import InvalidRecord
from crmclient.query.ast import Column, Condition, Filter, Operator, Order, Query
from designer.models import Binding, ExposedEntity, Input, Module
from designer.platform import get_platform
from runtime.idempotency.models import IdempotencyRecord
from tests.callers import Caller
from tests.row_rules import only_rule, ruled
from tests.runtime.accounts import ACCOUNTS, NOBODY, endpoint

CONTACT = ("firstname", "lastname", "emailaddress1", "parentcustomerid", "jobtitle", "birthdate")


@pytest.fixture(autouse=True)
def contacts(portico: None) -> Input:
    """The list `contacts` of the demo's create: first and last name, mail, day of birth, role, agent."""
    row = endpoint("create")
    row.inputs.filter(name="contacts").delete()
    made = Input.objects.create(
        endpoint=row, position=90, name="contacts", type="List", relationship="contact_customer_accounts"
    )
    inputs: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("first", "firstname", {"max_length": 10}),
        ("last", "lastname", {"required": True}),
        ("mail", "emailaddress1", {"pattern": "[^@]+@[^@]+"}),
        ("born", "birthdate", {"type": "Date"}),
        ("code", "accountrolecode", {"type": "OptionSet"}),
        ("agent", "preferredsystemuserid", {"type": "EntityReference"}),
    )
    for at, (name, attribute, limits) in enumerate(inputs):
        Input.objects.create(endpoint=row, parent=made, position=at, name=name, **limits)
        Binding.objects.create(endpoint=row, parent=made, position=at, attribute=attribute, value=name)
    _bind(made, "jobtitle", "expression", "input.first == null ? 'is nobody' : 'is ' + upper(input.first)")
    return made


def _bind(contacts: Input, attribute: str, source: str, value: object) -> None:
    Binding.objects.create(
        endpoint=contacts.endpoint, parent=contacts, attribute=attribute, source=source, value=value
    )


def _contacts_of(account: str) -> list[dict[str, Any]]:
    query = Query(
        "contact",
        columns=tuple(Column(name) for name in CONTACT),
        filter=Filter((Condition("parentcustomerid", Operator.EQ, (account,)),)),
        orders=(Order("lastname"),),
    )
    return get_platform().query(query).rows


def _accounts(name: str) -> int:
    query = Query(
        "account",
        columns=(Column("accountid"),),
        filter=Filter((Condition("name", Operator.EQ, (name,)),)),
    )
    return len(get_platform().query(query).rows)


def _errors(answer: Any) -> dict[str, str]:
    return {error["pointer"]: error["code"] for error in answer.json()["errors"]}


def test_the_items_are_created_with_the_record(rita: Caller) -> None:
    sent = [{"last": "Ada", "first": "Ann", "born": "1990-01-31"}, {"last": "Bo", "mail": "b@example.com"}]
    answer = rita.post(ACCOUNTS, {"name": "With people", "contacts": sent})
    assert answer.status_code == 200, answer.content
    id = answer.json()["id"]
    ada, bo = _contacts_of(id)
    assert (ada["firstname"], ada["lastname"], ada["jobtitle"]) == ("Ann", "Ada", "is ANN")
    assert (bo["firstname"], bo["emailaddress1"], bo["jobtitle"]) == (
        None,
        "b@example.com",
        "is nobody",
    )
    assert ada["parentcustomerid"] == Reference("account", id, "With people")


def test_items_whose_parent_the_platform_requires_are_created(rita: Caller) -> None:
    row = endpoint("create")
    cases = Input.objects.create(
        endpoint=row, position=91, name="cases", type="List", relationship="incident_customer_accounts"
    )
    Input.objects.create(endpoint=row, parent=cases, position=0, name="title", required=True)
    _bind(cases, "title", "input", "title")
    answer = rita.post(ACCOUNTS, {"name": "With a case", "cases": [{"title": "It stops"}]})
    assert answer.status_code == 200, answer.content
    query = Query(
        "incident",
        columns=(Column("title"), Column("customerid")),
        filter=Filter((Condition("customerid", Operator.EQ, (answer.json()["id"],)),)),
    )
    (case,) = get_platform().query(query).rows
    assert case["title"] == "It stops"
    assert case["customerid"] == Reference("account", answer.json()["id"], "With a case")


@pytest.mark.parametrize("sent", [{}, {"contacts": []}, {"contacts": None}])
def test_without_items_there_is_the_record_alone(rita: Caller, sent: dict[str, Any]) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Alone", **sent})
    assert answer.status_code == 200, answer.content
    assert _contacts_of(answer.json()["id"]) == []


def test_everything_wrong_with_any_item_is_named_at_once(rita: Caller) -> None:
    sent = [
        {"last": "Fine"},
        {"first": "Much too long a name", "mail": "nobody", "born": "yesterday"},
        "Ada",
        {"last": "Odd", "lsat": 1, "a/b": 2},
    ]
    answer = rita.post(ACCOUNTS, {"phone": 1, "contacts": sent})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert _errors(answer) == {
        "/name": "required",
        "/phone": "wrong_type",
        "/contacts/1/first": "too_long",
        "/contacts/1/last": "required",
        "/contacts/1/mail": "pattern",
        "/contacts/1/born": "wrong_type",
        "/contacts/2": "wrong_type",
        "/contacts/3/lsat": "unknown_key",
        "/contacts/3/a~1b": "unknown_key",
    }


@pytest.mark.parametrize(
    ("sent", "code"), [("Ada", "wrong_type"), ({}, "wrong_type"), ([{"last": "x"}] * 101, "wrong_length")]
)
def test_a_list_is_an_array_of_at_most_a_hundred(rita: Caller, sent: object, code: str) -> None:
    answer = rita.post(ACCOUNTS, {"name": "x", "contacts": sent})
    assert _errors(answer) == {"/contacts": code}


def test_a_hundred_items_are_taken(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Many", "contacts": [{"last": f"{n}"} for n in range(100)]})
    assert answer.status_code == 200, answer.content
    assert len(_contacts_of(answer.json()["id"])) == 100


def test_a_required_list_holds_an_item(rita: Caller, contacts: Input) -> None:
    Input.objects.filter(pk=contacts.pk).update(required=True, max_length=2)
    assert _errors(rita.post(ACCOUNTS, {"name": "x"})) == {"/contacts": "required"}
    for sent in ([], [{"last": "x"}] * 3):
        assert _errors(rita.post(ACCOUNTS, {"name": "x", "contacts": sent})) == {"/contacts": "wrong_length"}


def test_what_the_platform_refuses_in_an_item_is_said_of_it_and_nothing_is_kept(rita: Caller) -> None:
    sent = [{"last": "Fine"}, {"last": "Lost", "agent": NOBODY}]
    answer = rita.post(ACCOUNTS, {"name": "Nothing of it", "contacts": sent})
    assert (answer.status_code, _errors(answer)) == (400, {"/contacts/1/agent": "unknown_target"})
    assert _accounts("Nothing of it") == 0


def test_what_the_platform_refuses_in_the_record_is_said_of_it(rita: Caller) -> None:
    body = {"name": "x", "primaryContactId": NOBODY, "contacts": [{"last": "Fine"}]}
    assert _errors(rita.post(ACCOUNTS, body)) == {"/primaryContactId": "unknown_target"}


def test_a_key_that_is_taken_is_said_of_its_item(rita: Caller, contacts: Input) -> None:
    _bind(contacts, "contactid", "constant", get_platform().create("contact", {"lastname": "First"}).id)
    answer = rita.post(ACCOUNTS, {"name": "Twice", "contacts": [{"last": "x"}]})
    assert (answer.status_code, _errors(answer)) == (409, {"/contacts/0": "duplicate_key"})
    assert _accounts("Twice") == 0


def test_what_cannot_be_computed_from_an_item_is_said_of_its_inputs(rita: Caller, contacts: Input) -> None:
    _bind(contacts, "description", "expression", "input.first + input.last")
    _bind(contacts, "department", "expression", "format('{:0}', coalesce(input.mail, '0'))")
    sent = [{"last": "a"}, {"first": "b", "last": "c", "mail": "d@e"}]
    answer = rita.post(ACCOUNTS, {"name": "x", "contacts": sent})
    assert (answer.status_code, _errors(answer)) == (
        400,
        {
            "/contacts/0/first": "not_computable",
            "/contacts/0/last": "not_computable",
            "/contacts/1/mail": "not_computable",
        },
    )


def test_expressions_of_the_record_see_the_list(rita: Caller, contacts: Input) -> None:
    Binding.objects.create(
        endpoint=contacts.endpoint,
        attribute="description",
        source="expression",
        value="join(input.contacts.map(c, coalesce(c.first, '?') + ' ' + c.last), '; ')",
    )
    sent = [{"last": "Ada", "first": "Ann"}, {"last": "Bo"}]
    id = rita.post(ACCOUNTS, {"name": "Listed", "contacts": sent}).json()["id"]
    values = get_platform().retrieve("account", id, ("description",)).values
    assert values["description"] == "Ann Ada; ? Bo"


def test_a_repetition_under_one_key_creates_nothing_twice(rita: Caller) -> None:
    body = {"name": "Once", "contacts": [{"last": "Ada"}]}
    first, second = (rita.post(ACCOUNTS, body, idempotency_key="k1") for _ in range(2))
    assert first.json() == second.json()
    assert len(_contacts_of(first.json()["id"])) == _accounts("Once") == 1


def test_a_try_that_was_taken_over_had_created_all(rita: Caller) -> None:
    body = {"name": "Lost answer", "contacts": [{"last": "Ada"}]}
    first = rita.post(ACCOUNTS, body, idempotency_key="k2")
    # As if the first had died between the platform's call and its answer.
    record = IdempotencyRecord.objects.get()
    IdempotencyRecord.objects.update(status=None, deadline=record.deadline.replace(year=2020))
    second = rita.post(ACCOUNTS, body, idempotency_key="k2")
    assert (second.status_code, second.json()) == (200, first.json())
    assert len(_contacts_of(first.json()["id"])) == _accounts("Lost answer") == 1


def test_the_document_describes_the_items(rita: Caller) -> None:
    document = rita.get("/api/openapi.json").json()
    body = document["paths"][ACCOUNTS]["post"]["requestBody"]["content"]["application/json"]["schema"]
    component = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    schema = component["properties"]["contacts"]
    assert (schema["type"], schema["minItems"], schema["maxItems"]) == (["array", "null"], 0, 100)
    assert schema["items"]["required"] == ["last"]
    assert schema["items"]["additionalProperties"] is False
    assert schema["items"]["properties"]["first"]["maxLength"] == 10
    assert "contact.accountrolecode" in json.dumps(schema["items"]["properties"]["code"])


@pytest.mark.parametrize(
    "change",
    [
        {"relationship": ""},
        {"relationship": "nosuch"},
        {"relationship": "account_primary_contact"},
        {"default": [1]},
        {"default": [{"last": "Lovelace"}]},
        {"type": "String"},
    ],
)
def test_a_list_that_cannot_be_is_503(rita: Caller, contacts: Input, change: dict[str, Any]) -> None:
    Input.objects.filter(pk=contacts.pk).update(**change)
    if change == {"type": "String"}:
        Input.objects.filter(pk=contacts.pk).update(name="other")
        Input.objects.filter(parent=contacts, name="first").update(type="List")
        Input.objects.filter(pk=contacts.pk).update(type="List")
    answer = rita.post(ACCOUNTS, {"name": "x"})
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")


def test_only_a_create_and_an_update_take_lists(rita: Caller, max: Caller, contacts: Input) -> None:
    Input.objects.create(endpoint=endpoint("action"), name="contacts", type="List")
    made = rita.post(ACCOUNTS, {"name": "x"}).json()["id"]
    action = endpoint("action").name
    assert max.post(f"{ACCOUNTS}/{made}/actions/{action}", {}).status_code == 503


def test_the_platform_says_which_item_it_refused() -> None:
    from crmclient.platform import Create

    with pytest.raises(InvalidRecord) as caught:
        get_platform().batch([Create("account", {"name": "x"}), Create("contact", {"nosuch": "x"})])
    assert caught.value.item == 1


def test_the_document_says_at_once_that_a_row_rule_of_the_items_refuses(rita: Caller) -> None:
    """The rule is of another exposed entity than the endpoint's own."""

    def refused() -> Any:
        document = rita.get("/api/openapi.json").json()
        reference = document["paths"][ACCOUNTS]["post"]["responses"]["403"]["$ref"]
        return json.dumps(document["components"]["responses"][reference.rpartition("/")[2]])

    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="persons", entity="contact"
    )
    before = refused()
    ruled(exposed, '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>')
    answer = rita.post(ACCOUNTS, {"name": "Ruled", "contacts": [{"last": "Ada"}]})
    assert (answer.status_code, answer.json()["code"]) == (403, "outside_row_rule")
    assert "outside_row_rule" in refused()
    only_rule("", segment="persons")
    assert refused() == before
