"""Renaming an input renames its uses in the same save."""

from __future__ import annotations

import pytest
from django.test import Client

from designer.models import Endpoint, Precondition
from tests.designer.studio import add_row, change_url, filled, page, send
from tests.runtime.accounts import endpoint

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
