"""Lists on their endpoint's page: the rows of their items stand in theirs, and are never lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.models import Binding, Endpoint, Input, Module
from designer.studio.endpoint_form.page_data import page_data
from designer.studio.metadata.page_metadata import known_metadata
from tests.designer.studio import add_row, change_url, errors, filled, page, send

RELATIONSHIP = "contact_customer_accounts"


@pytest.fixture
def create(portico: None) -> Endpoint:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    row.inputs.filter(type="List").delete()
    return row


@pytest.fixture
def contacts(create: Endpoint) -> Input:
    """A list of contacts, each with a last name."""
    made: Input = Input.objects.create(
        endpoint=create, position=9, name="contacts", type="List", relationship=RELATIONSHIP
    )
    Input.objects.create(endpoint=create, parent=made, name="last", required=True, max_length=50)
    Binding.objects.create(endpoint=create, parent=made, attribute="lastname", value="last")
    return made


def _check(dora: Client, row: Endpoint, data: dict[str, Any]) -> Any:
    return dora.post(reverse("admin:designer_endpoint_check", args=[row.pk]), data).json()


def _items(data: dict[str, Any], contacts: Input) -> str:
    """The prefix of the list's row."""
    return next(name for name, value in data.items() if name.endswith("-id") and value == contacts.pk)[:-3]


def test_a_save_of_the_page_keeps_the_rows_of_a_list(dora: Client, contacts: Input) -> None:
    data = filled(page(dora, change_url(contacts.endpoint)))
    assert f"{_items(data, contacts)}-items-0-name" in data
    saved = send(dora, change_url(contacts.endpoint), data | {"title": "Changed"})
    assert saved.status_code == 302, errors(saved)
    assert list(contacts.inputs.values_list("name", "required", "max_length")) == [("last", True, 50)]
    assert list(contacts.bindings.values_list("attribute", "value")) == [("lastname", "last")]


def test_a_save_that_was_sent_without_them_keeps_them_as_well(dora: Client, contacts: Input) -> None:
    data = filled(page(dora, change_url(contacts.endpoint)))
    at = _items(data, contacts)
    inside = (f"{at}-items", f"{at}-properties")
    rest = {name: value for name, value in data.items() if not name.startswith(inside)}
    assert send(dora, change_url(contacts.endpoint), rest | {"title": "Changed"}).status_code == 302
    assert (contacts.inputs.count(), contacts.bindings.count()) == (1, 1)


def test_rows_of_a_list_are_changed_added_and_removed(dora: Client, contacts: Input) -> None:
    data = filled(page(dora, change_url(contacts.endpoint)))
    at = _items(data, contacts)
    data[f"{at}-items-0-max_length"] = "40"
    add_row(data, f"{at}-items", name="mail", type="String", max_length="100")
    add_row(data, f"{at}-properties", attribute="emailaddress1", source="input", value_text="mail")
    saved = send(dora, change_url(contacts.endpoint), data)
    assert saved.status_code == 302, errors(saved)
    assert list(contacts.inputs.values_list("name", "max_length")) == [("last", 40), ("mail", 100)]
    assert contacts.inputs.get(name="mail").endpoint == contacts.endpoint
    data = filled(page(dora, change_url(contacts.endpoint)))
    data |= {f"{at}-items-1-DELETE": "on", f"{at}-properties-1-DELETE": "on"}
    assert send(dora, change_url(contacts.endpoint), data).status_code == 302
    assert list(contacts.inputs.values_list("name", flat=True)) == ["last"]


def test_a_new_list_is_saved_with_its_items_at_once(dora: Client, create: Endpoint) -> None:
    data = filled(page(dora, change_url(create)))
    at = f"inputs-{data['inputs-TOTAL_FORMS']}"
    add_row(data, "inputs", name="people", type="List", relationship=RELATIONSHIP)
    for rows in ("items", "properties"):
        data |= {f"{at}-{rows}-TOTAL_FORMS": 0, f"{at}-{rows}-INITIAL_FORMS": 0}
    refused = send(dora, change_url(create), data)
    assert any("Nothing of “people” is written" in message for message in errors(refused))
    add_row(data, f"{at}-items", name="last", type="String", required="on", max_length="50")
    add_row(data, f"{at}-properties", attribute="lastname", source="input", value_text="last")
    saved = send(dora, change_url(create), data)
    assert saved.status_code == 302, errors(saved)
    people = create.inputs.get(name="people")
    assert (people.relationship, people.inputs.get().name) == (RELATIONSHIP, "last")
    assert people.bindings.get().endpoint == create


def test_what_is_wrong_with_an_item_stands_at_its_row(dora: Client, contacts: Input) -> None:
    data = filled(page(dora, change_url(contacts.endpoint)))
    at = _items(data, contacts)
    wrong = {f"{at}-items-0-max_length": "many", f"{at}-properties-0-value_text": "nobody"}
    state = _check(dora, contacts.endpoint, data | wrong)
    assert "Enter a whole number" in state["errors"][f"{at}-items-0-max_length"]
    assert "takes @nobody, which is not defined" in state["findings"][f"{at}-properties-0-value_text"]
    refused = send(dora, change_url(contacts.endpoint), data | wrong)
    assert filled(refused)[f"{at}-items-0-max_length"] == "many"
    assert contacts.inputs.get().max_length == 50


def test_a_page_knows_what_its_lists_may_hold(dora: Client, contacts: Input) -> None:
    facts = page(dora, change_url(contacts.endpoint)).context["page_data"]
    assert facts["relationships"][RELATIONSHIP]["entity"] == "contact"
    assert facts["entity:contact"]["lastname"]["required"] is True
    delete = Endpoint.objects.get(kind="delete", entity__segment="accounts")
    assert "relationships" not in page(dora, change_url(delete)).context["page_data"]


def test_rows_may_take_each_others_names_and_no_two_have_one(dora: Client, create: Endpoint) -> None:
    data = filled(page(dora, change_url(create)))
    first, second = data["inputs-0-name"], data["inputs-1-name"]
    swapped = data | {"inputs-0-name": second, "inputs-1-name": first}
    del swapped["enabled"]
    assert send(dora, change_url(create), swapped).status_code == 302
    assert [row.name for row in create.inputs.all()][:2] == [second, first]
    twice = filled(page(dora, change_url(create))) | {"inputs-1-name": second}
    assert f"Two rows have “{second}”. Change or remove one." in errors(send(dora, change_url(create), twice))


@pytest.fixture
def win(portico: None) -> Endpoint:
    """An action that wins an opportunity, with nothing but its process chosen."""
    made: Endpoint = Endpoint.objects.create(
        module=Module.objects.get(segment="sales"),
        kind="global-action",
        name="win",
        enabled=False,
        settings={"process": "WinOpportunity"},
    )
    return made


def test_a_record_of_a_process_is_a_row_with_rows_of_its_own(dora: Client, win: Endpoint) -> None:
    close = Input.objects.create(
        endpoint=win, name="close", type="Record", required=True, relationship="OpportunityClose"
    )
    Input.objects.create(
        endpoint=win, parent=close, name="opportunity", type="EntityReference", required=True
    )
    Binding.objects.create(endpoint=win, parent=close, attribute="opportunityid", value="opportunity")
    data = filled(page(dora, change_url(win)))
    assert data[f"{_items(data, close)}-items-0-name"] == "opportunity"

    saved = send(dora, change_url(win), data | {"title": "Win"})

    assert saved.status_code == 302, errors(saved)
    assert list(close.inputs.values_list("name", "type")) == [("opportunity", "EntityReference")]
    assert list(close.bindings.values_list("attribute", "value")) == [("opportunityid", "opportunity")]


def test_the_button_offers_the_records_of_a_process(dora: Client, win: Endpoint) -> None:
    data = page_data(win, known_metadata())
    offered = data["relationships"]["OpportunityClose"]
    assert (offered["entity"], offered["required"]) == ("opportunityclose", True)
    wanted = {"name": "OpportunityClose", "type": "Record", "relationship": "OpportunityClose"}
    assert offered["input"].items() >= wanted.items()


def test_a_missing_record_comes_with_its_fix(dora: Client, win: Endpoint) -> None:
    answer = _check(dora, win, filled(page(dora, change_url(win))))
    assert "record-missing" in json.dumps(answer)
