"""Upserts and reads by key in the studio: made by choosing, tried, and put away whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from designer.models import Binding, Endpoint, ExposedEntity, Input
from tests.callers import Caller
from tests.designer.studio import blocking, change_url, errors, filled, page, send
from tests.designer.test_studio_operations import _added, _offered
from tests.designer.test_studio_transfer import _exported, _import
from tests.designer.test_studio_try import _form, _try
from tests.row_rules import only_rule
from tests.runtime.accounts import an_account
from tests.runtime.keys import KEY, a_number, found, path, reads, upserts
from tests.runtime.test_row_rules import MINE, only


@pytest.fixture
def accounts(portico: None) -> ExposedEntity:
    only_rule("", segment="accounts")
    exposed: ExposedEntity = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    return exposed


def test_an_upsert_is_made_by_choosing(dora: Client, rita: Caller, accounts: ExposedEntity) -> None:
    row = _added(dora, kind="upsert", entity=accounts.pk, name="number", title="By number")
    opened = page(dora, change_url(row))
    assert _offered(opened, "settings__key") == {KEY}
    refused = send(dora, change_url(row), filled(opened) | {"enabled": "on"})
    assert ("settings__key", "Choose the alternate key.") in blocking(refused)
    assert f"Choose {KEY}" in refused.content.decode()
    Input.objects.create(endpoint=row, name="name", type="String", required=True)
    Binding.objects.create(endpoint=row, attribute="name", source="input", value="name")
    opened = page(dora, change_url(row))
    saved = send(dora, change_url(row), filled(opened) | {"settings__key": KEY, "enabled": "on"})
    assert saved.status_code == 302, errors(saved)
    number = a_number()
    assert rita.request("PUT", path(number), {"name": "Made"}).json()["created"] is True
    shown = page(dora, change_url(row)).content.decode().replace("<wbr>", "")
    assert "PUT /api/sales/accounts/keys/number/{value}" in shown
    assert "/api/sales/accounts/keys/number/$VALUE" in shown


def test_a_dry_run_shows_what_would_be_written(dora: Client, accounts: ExposedEntity) -> None:
    row, number = upserts(), a_number()
    answer = _try(dora, row, record=number, body__name="Never")
    calls = answer.context["outcome"].calls
    assert [(call.operation, call.sent) for call in calls] == [("upsert", False)]
    assert found(number) == []
    only(MINE)
    an_account(accountnumber=number)
    outcome = _try(dora, row, record=number, body__name="Never").context["outcome"]
    assert outcome.status == 404
    assert [(call.operation, call.sent) for call in outcome.calls] == [("query", True), ("query", True)]
    assert found(number) == [{"name": "Contoso"}]


def test_a_try_for_real_writes(dora: Client, accounts: ExposedEntity) -> None:
    dora_herself = User.objects.get(username="designer")
    dora_herself.user_permissions.add(Permission.objects.get(codename="call_for_real"))
    row, number = upserts(), f"{a_number()}/é"
    for name in ("First", "Second"):
        form = _form(dora, row, mode="real", record=number, body__name=name)
        answer = dora.post(reverse("admin:designer_endpoint_try", args=[row.pk]), form, follow=True)
        assert answer.context["outcome"].status == 200, answer.context["outcome"].body
        assert found(number) == [{"name": name}]


def test_a_read_by_key_is_tried(dora: Client, accounts: ExposedEntity) -> None:
    row, number = reads(), a_number()
    an_account(accountnumber=number)
    outcome = _try(dora, row, record=number).context["outcome"]
    assert [(call.operation, call.sent) for call in outcome.calls] == [("query", False)]


def test_it_is_exported_and_imported_whole(dora: Client, rita: Caller, accounts: ExposedEntity) -> None:
    upserts()
    reads()
    document: dict[str, Any] = _exported(dora)
    items = [each for each in document["endpoints"] if each["kind"] in ("upsert", "read-by-key")]
    assert [item["settings"] for item in items] == [{"key": KEY}, {"key": KEY}]
    Endpoint.objects.filter(kind__in=("upsert", "read-by-key")).delete()
    number = a_number()
    assert rita.get(path(number)).status_code == 404
    assert _import(dora, document).status_code == 302
    assert rita.request("PUT", path(number), {"name": "x"}).status_code == 200
    assert rita.get(path(number)).json()["number"] == number
