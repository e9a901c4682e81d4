"""Renaming an input renames its uses in the same save."""

from __future__ import annotations

import pytest
from django.test import Client

from designer.models import Endpoint, Input, Precondition
from tests.designer.studio import add_row, as_by_browser, change_url, filled, page, send
from tests.runtime.accounts import endpoint
from tests.runtime.test_list_changes import a_list

pytestmark = pytest.mark.usefixtures("portico")


def test_bindings_and_expressions_follow_and_texts_stay(dora: Client) -> None:
    row = endpoint("create")
    Precondition.objects.create(
        endpoint=row, expression='has(input.phone) || "input.phone" != "x"', status=409
    )
    row.bindings.create(attribute="fax", source="expression", value="input.phone + input.phoneX")
    data = filled(page(dora, change_url(row)))
    renamed = next(name for name, value in data.items() if value == "phone" and name.endswith("-name"))
    # As a browser without scripts sends it: nothing but the name is another.
    add_row(data, "inputs", name="phoneX", type="String")
    assert send(dora, change_url(row), data | {renamed: "telephone"}).status_code == 302
    assert row.bindings.get(attribute="telephone1").value == "telephone"
    assert row.bindings.get(attribute="fax").value == "input.telephone + input.phoneX"
    assert row.preconditions.get().expression == 'has(input.telephone) || "input.phone" != "x"'


def test_uses_on_several_lines_follow_as_browsers_send_them(dora: Client) -> None:
    row = endpoint("create")
    row.bindings.create(attribute="fax", source="expression", value="input.phone\n + input.name")
    Precondition.objects.create(endpoint=row, expression="true\n || has(input.phone)", status=409)
    data = as_by_browser(page(dora, change_url(row)))
    assert any("\r\n" in str(value) for value in data.values())
    renamed = next(name for name, value in data.items() if value == "phone" and name.endswith("-name"))
    assert send(dora, change_url(row), data | {renamed: "telephone"}).status_code == 302
    assert row.bindings.get(attribute="fax").value == "input.telephone\n + input.name"
    assert row.preconditions.get().expression == "true\n || has(input.telephone)"


def test_two_inputs_may_take_each_others_names(dora: Client) -> None:
    row = endpoint("create")
    data = filled(page(dora, change_url(row)))
    names = {
        value: name for name, value in data.items() if name.startswith("inputs-") and name.endswith("-name")
    }
    data |= {names["phone"]: "industry", names["industry"]: "phone"}
    assert send(dora, change_url(row), data).status_code == 302
    bound = dict(row.bindings.filter(source="input").values_list("attribute", "value"))
    assert (bound["telephone1"], bound["industrycode"]) == ("industry", "phone")


def test_uses_stay_told_apart_where_an_input_is_given_the_name_of_another(dora: Client) -> None:
    row = endpoint("create")
    data = filled(page(dora, change_url(row)))
    renamed = next(name for name, value in data.items() if value == "industry" and name.endswith("-name"))
    refused = send(dora, change_url(row), data | {renamed: "phone"})
    corrected = filled(refused) | {renamed: "sector"}
    assert send(dora, change_url(row), corrected).status_code == 302
    bound = dict(row.bindings.filter(source="input").values_list("attribute", "value"))
    assert (bound["telephone1"], bound["industrycode"]) == ("phone", "sector")


def test_a_query_follows_and_is_served_by_the_new_name(dora: Client) -> None:
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    data = filled(page(dora, change_url(row)))
    renamed = next(name for name, value in data.items() if name.endswith("-name") and value == "minRevenue")
    assert "@minRevenue" in data["settings__query"]
    assert send(dora, change_url(row), data | {renamed: "atLeast"}).status_code == 302
    row.refresh_from_db()
    assert "minRevenue" not in str(row.settings)
    assert "atLeast" in str(row.settings)


def _call(**sent: object) -> dict[str, object]:
    return {"name": "as kept", "roles": ["sales-rep"], "status": 200, **sent}


def test_example_calls_send_what_they_have_sent_by_the_new_names(dora: Client) -> None:
    row = endpoint("create")
    row.example_calls = [_call(body={"phone": "1", "industry": 2, "x": 3})]
    row.save()
    data = filled(page(dora, change_url(row)))
    names = {
        value: name for name, value in data.items() if name.startswith("inputs-") and name.endswith("-name")
    }
    data |= {names["phone"]: "industry", names["industry"]: "phone"}
    assert send(dora, change_url(row), data).status_code == 302
    row.refresh_from_db()
    assert row.example_calls[0]["body"] == {"industry": "1", "phone": 2, "x": 3}


def test_example_calls_of_a_query_follow(dora: Client) -> None:
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    row.example_calls = [_call(query={"minRevenue": "5", "order": "name"})]
    row.save()
    data = filled(page(dora, change_url(row)))
    renamed = next(name for name, value in data.items() if name.endswith("-name") and value == "minRevenue")
    assert send(dora, change_url(row), data | {renamed: "atLeast"}).status_code == 302
    row.refresh_from_db()
    assert row.example_calls[0]["query"] == {"atLeast": "5", "order": "name"}


def test_example_calls_follow_in_the_items_of_a_list(dora: Client) -> None:
    row = endpoint("update")
    item = Input.objects.get(endpoint=row, parent=a_list(), name="last")
    row.example_calls = [
        _call(
            body={
                "contacts": {
                    "add": [{"last": "A"}],
                    "change": [{"id": "1", "last": "B"}],
                    "remove": ["2"],
                },
                "last": "C",
            }
        )
    ]
    row.save()
    data = filled(page(dora, change_url(row)))
    place = next(
        name.removesuffix("-id") for name, value in data.items() if "-items-" in name and value == item.pk
    )
    assert send(dora, change_url(row), data | {f"{place}-name": "familyName"}).status_code == 302
    row.refresh_from_db()
    assert row.example_calls[0]["body"] == {
        "contacts": {
            "add": [{"familyName": "A"}],
            "change": [{"id": "1", "familyName": "B"}],
            "remove": ["2"],
        },
        "last": "C",
    }
