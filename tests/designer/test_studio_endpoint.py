"""An endpoint's page: findings where they are to be mended, with a fix where that is safe."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.models import Binding, Endpoint, Input, OptionSet
from tests.designer.studio import add_row, add_url, change_url, errors, filled, page, send


@pytest.fixture
def create(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _check(dora: Client, row: Endpoint, **changes: Any) -> Any:
    """What the page says of the form with `changes`, unsaved."""
    data = filled(page(dora, change_url(row))) | changes
    return _check_data(dora, row, data)


def _check_data(dora: Client, row: Endpoint, data: dict[str, Any]) -> Any:
    answer = dora.post(reverse("admin:designer_endpoint_check", args=[row.pk]), data)
    assert answer.status_code == 200, answer
    return answer.json()


def _fixes(answer: Any) -> dict[str, Any]:
    """The fixes that a page offers, by rule."""
    located = [item for item in answer.context["located"] if item.fix]
    return {item.finding.rule: json.loads(item.fix) for item in located}


def test_a_finding_stands_at_its_field_with_rule_and_fix(dora: Client, create: Endpoint) -> None:
    Input.objects.filter(endpoint=create, name="phone").update(max_length=200)
    opened = page(dora, change_url(create))
    (located,) = opened.context["located"]
    assert located.place == "inputs-1-max_length"
    assert located.finding.rule == "binding-length"
    assert _fixes(opened) == {"binding-length": {"set": {"inputs-1-max_length": "50"}, "rows": {}}}
    text = opened.content.decode()
    at_field = text.split('data-findings="inputs-1-max_length"')[1].split("</div>")[0]
    assert "holds 50 characters" in at_field
    assert "Set the limit to 50" in at_field


def test_fixes_add_what_is_missing(dora: Client, create: Endpoint) -> None:
    Binding.objects.filter(endpoint=create, attribute="name").delete()
    Binding.objects.create(endpoint=create, attribute="websiteurl", value="site")
    Endpoint.objects.filter(pk=create.pk).update(enabled=False)
    fixes = _fixes(page(dora, change_url(create)))
    assert fixes["binding-input"]["rows"]["inputs"][0] | {"description": ""} == {
        "name": "site",
        "type": "String",
        "required": False,
        "nullable": True,
        "label": "",
        "description": "",
        "min_length": "",
        "max_length": "200",
        "minimum": "",
        "maximum": "",
    }
    bound = {"attribute": "name", "source": "input", "value_text": "name"}
    assert fixes["required-attribute-unbound"]["rows"] == {"bindings": [bound]}


def test_the_unsaved_form_is_checked_as_it_stands(dora: Client, create: Endpoint) -> None:
    state = _check(dora, create, **{"inputs-1-max_length": "200", "segment": "companies"})
    assert state["path"] == "POST /api/sales/companies"
    assert "binding-length" in state["findings"]["inputs-1-max_length"]
    assert state["counts"] == {"inputs-1-max_length": [0, 1]}
    assert "Ready" in state["state"]
    assert Endpoint.objects.get(pk=create.pk).segment == ""


def test_rows_added_and_removed_on_the_page_count_before_they_are_saved(
    dora: Client, create: Endpoint
) -> None:
    data = filled(page(dora, change_url(create))) | {"bindings-0-DELETE": "on"}
    add_row(data, "bindings", attribute="websiteurl", source="input", value_text="site", position=9)
    state = _check_data(dora, create, data)
    assert "required-attribute-unbound" in state["findings"]["#bindings"]
    assert "takes @site, which is not defined" in state["findings"]["bindings-5-value_text"]
    assert "Blocked" in state["state"]


def test_what_queries_and_row_rules_lack_is_offered_at_their_fields(dora: Client, create: Endpoint) -> None:
    update = Endpoint.objects.get(kind="update", entity__segment="accounts")
    filter = '<filter><condition attribute="name" operator="eq" value="@who"/></filter>'
    query = f'<fetch><entity name="account"><attribute name="name"/>{filter}</entity></fetch>'
    data = filled(page(dora, change_url(update))) | {"row_rule": filter}
    add_row(data, "fetchers", name="same", query=query, position=0)
    findings = _check_data(dora, update, data)["findings"]
    for place in ("row_rule", "fetchers-0-query"):
        assert "Add parameter who (String)" in findings[place]


def test_what_cannot_be_read_is_said_at_its_field(dora: Client, create: Endpoint) -> None:
    state = _check(dora, create, **{"inputs-1-max_length": "many", "segment": "Not a segment"})
    assert "Enter a whole number" in state["errors"]["inputs-1-max_length"]
    assert "Use lower-case letters" in state["errors"]["segment"]


def test_a_path_that_another_has_is_said_before_saving(dora: Client) -> None:
    leads = Endpoint.objects.get(kind="create", entity__segment="leads")
    state = _check(dora, leads, segment="accounts")
    assert "is the path of sales.accounts.create already" in state["findings"]["segment"]


def test_only_who_may_change_an_endpoint_may_have_it_checked(dora: Client, create: Endpoint) -> None:
    url = reverse("admin:designer_endpoint_check", args=[create.pk])
    assert dora.get(url).status_code == 405
    assert Client().post(url, {}).status_code == 302
    assert dora.post(reverse("admin:designer_endpoint_check", args=[10**9]), {}).status_code == 404


def test_every_endpoint_of_the_demo_can_be_checked_as_it_is(dora: Client) -> None:
    for model, name in ((Endpoint, "endpoint"), (OptionSet, "optionset")):
        for row in model.objects.all():
            data = filled(page(dora, change_url(row)))
            state = dora.post(reverse(f"admin:designer_{name}_check", args=[row.pk]), data).json()
            assert (state["errors"], "Blocked" in state["state"]) == ({}, False), (row, state)


@pytest.mark.parametrize("is_new", [False, True], ids=["saved", "new"])
def test_an_option_set_asks_for_each_setting_once(dora: Client, is_new: bool) -> None:
    served = OptionSet.objects.first()
    text = page(dora, add_url("optionset") if is_new else change_url(served)).content.decode()
    asked = [name.rsplit("__", 1)[1] for name in re.findall(r'name="(settings__\w+)"', text)]
    assert asked[0] == "option_set"
    assert sorted(set(asked)) == sorted(asked)


def test_the_page_holds_its_attributes_once(dora: Client, create: Endpoint) -> None:
    opened = page(dora, change_url(create))
    attributes = opened.context["page_data"]["attributes"]
    assert attributes["telephone1"]["facts"] == "String, 50 characters"
    assert attributes["name"]["input"]["required"] is True
    assert attributes["industrycode"]["editor"] == "option"
    assert opened.content.decode().count("Ticker Symbol") < 5


def test_an_endpoint_of_many_inputs_is_saved(dora: Client, create: Endpoint) -> None:
    names = [f"field{index}" for index in range(120)]
    for at, name in enumerate(names):
        Input.objects.create(endpoint=create, position=100 + at, name=name)
    answer = send(dora, change_url(create), filled(page(dora, change_url(create))) | {"title": "Wide"})
    assert answer.status_code == 302, errors(answer)
    create.refresh_from_db()
    assert create.title == "Wide"
    assert set(names) <= set(create.inputs.values_list("name", flat=True))


def test_a_query_without_inputs_is_told_that_parameters_need_them(dora: Client, portico: None) -> None:
    query = Endpoint.objects.get(kind="single-query", name="my-profile")
    text = page(dora, change_url(query)).content.decode()
    assert "None yet. Each @parameter of the query needs an input of its name." in text
    assert "Add them from attributes: names, types and lengths" not in text


def test_a_query_without_columns_of_its_own_says_what_callers_get(dora: Client, portico: None) -> None:
    query = Endpoint.objects.get(kind="paginated-query", name="accounts")
    query.columns.all().delete()
    query.enabled = False
    query.save()
    text = page(dora, change_url(query)).content.decode()
    assert "Callers get the columns of the query. Columns that you add here replace them." in text
    read = page(dora, change_url(Endpoint.objects.get(kind="read", entity__segment="accounts")))
    assert "None yet. Add those that callers should see." in read.content.decode()
