"""Reads and actions, made in the studio only by clicking."""

from __future__ import annotations

from typing import Any

from django.test import Client

from designer.models import Endpoint, ExposedEntity, Module
from tests.callers import Caller
from tests.designer.studio import add_row, add_url, change_url, errors, filled, page, send
from tests.runtime.accounts import an_account


def _added(dora: Client, **values: Any) -> Endpoint:
    data = filled(page(dora, add_url("endpoint"))) | values
    assert send(dora, add_url("endpoint"), data).status_code == 302
    return Endpoint.objects.get(title=values["title"])


def _offered(answer: Any, field: str) -> set[str]:
    """The choices of a field, of the page's form or of an inline's empty row."""
    forms = [answer.context["adminform"].form]
    forms += [inline.formset.empty_form for inline in answer.context["inline_admin_formsets"]]
    return {
        str(value)
        for form in forms
        for bound in form
        if bound.html_name.replace("__prefix__", "n") == field
        for value, _ in bound.field.choices
        if value
    }


def test_a_read_answers_the_columns_that_were_chosen(dora: Client, rita: Caller) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    opened = page(dora, change_url(row))
    assert {"name", "revenue", "ownerid"} <= _offered(opened, "columns-n-attribute")
    data = filled(opened)
    add_row(data, "columns", attribute="websiteurl", name="Web site")
    saved = send(dora, change_url(row), data)
    assert saved.status_code == 302, errors(saved)
    assert rita.get(an_account(websiteurl="https://example.org")).json()["webSite"] == "https://example.org"


def test_two_columns_of_one_key_are_refused_and_nothing_is_lost(dora: Client) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    data = filled(page(dora, change_url(row)))
    add_row(data, "columns", attribute="websiteurl", name="Industry label")
    refused = send(dora, change_url(row), data)
    assert "2 columns become “industryLabel” in the answer. Give them different names." in errors(refused)
    assert "Industry label" in refused.content.decode()
    assert not row.columns.filter(attribute="websiteurl").exists()


def test_an_action_is_made_by_choosing_its_process(dora: Client, max: Caller) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts")
    row = _added(dora, kind="action", entity=accounts.pk, name="accept", title="Accept an account")
    opened = page(dora, change_url(row))
    assert _offered(opened, "settings__process") == {"new_Approve"}
    data = filled(opened) | {"settings__process": "new_Approve"}
    assert send(dora, change_url(row), data).status_code == 302
    opened = page(dora, change_url(row))
    assert _offered(opened, "bindings-n-attribute") == {"Comment"}
    assert _offered(opened, "columns-n-attribute") == {"Approved"}
    data = filled(opened) | {"enabled": "on"}
    refused = send(dora, change_url(row), data)
    assert any("requires Comment" in message for message in errors(refused))
    add_row(data, "inputs", name="why", type="String", required="on")
    add_row(data, "bindings", attribute="Comment", source="input", value_text="@why")
    add_row(data, "columns", attribute="Approved", name="accepted")
    saved = send(dora, change_url(row), data)
    assert saved.status_code == 302, errors(saved)
    answer = max.post(f"{an_account()}/actions/accept", {"why": "Good people"})
    assert (answer.status_code, answer.json()) == (200, {"accepted": True})


def test_a_global_action_offers_what_runs_on_no_record(dora: Client) -> None:
    sales = Module.objects.get(segment="sales")
    row = _added(dora, kind="global-action", module=sales.pk, name="echo", title="Echo")
    assert _offered(page(dora, change_url(row)), "settings__process") == {
        *("new_Ping", "WinOpportunity", "LoseOpportunity", "CloseIncident")
    }
