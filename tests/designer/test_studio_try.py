"""“Try it” and the preview, as Dora uses them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from designer.models import AuditEntry, Endpoint
from designer.platform import get_platform
from tests.designer.studio import change_url, filled, page
from tests.runtime.accounts import an_account, endpoint


def _url(row: Endpoint) -> str:
    return reverse("admin:designer_endpoint_try", args=[row.pk])


def _try(client: Client, row: Endpoint, **data: Any) -> Any:
    given = {"caller": "token", "roles": ["sales-rep"], "user": "", "mode": "dry", **data}
    answer = client.post(_url(row), given)
    assert answer.status_code == 200
    return answer


@pytest.fixture
def daring(dora: Client) -> Client:
    """Dora, who may also call for real."""
    dora_herself = User.objects.get(username="designer")
    dora_herself.user_permissions.add(Permission.objects.get(codename="call_for_real"))
    return dora


def test_the_form_asks_for_what_callers_send(dora: Client) -> None:
    form = page(dora, _url(endpoint("create"))).context["form"]
    assert {"body__name", "body__phone", "body__industry", "caller", "roles", "user", "mode"} <= set(
        form.fields
    )
    assert form.fields["body__name"].label == "name *"
    assert ("1", "1") in form.fields["body__industry"].choices


def test_a_dry_run_shows_the_platforms_request(dora: Client) -> None:
    answer = _try(dora, endpoint("create"), body__name="Contoso", body__revenue="12.50")
    text = answer.content.decode()
    assert "was not sent" in text
    assert "&quot;revenue&quot;: 12.5" in text


def _calls(outcome: Any, *, sent: bool) -> list[tuple[str, str]]:
    return [(call.operation, call.request) for call in outcome.calls if call.sent is sent]


def test_a_dry_read_sends_only_what_its_rules_need(dora: Client) -> None:
    row = endpoint("read")
    row.row_rule = ""
    row.save()
    record = an_account().rpartition("/")[2]
    outcome = _try(dora, row, record=record, user=RITA_REP).context["outcome"]
    assert (outcome.status, outcome.body) == (0, "")
    rules, ((operation, request),) = _calls(outcome, sent=True), _calls(outcome, sent=False)
    assert "telephone1" in request
    assert record in request
    assert all("telephone1" not in asked for _, asked in rules)
    real = _try(dora, row, record=record, user=RITA_REP, mode="real").context["outcome"]
    assert _calls(real, sent=True)[-1] == (operation, request)


def test_a_dry_read_outside_the_row_rule_says_so(dora: Client) -> None:
    row = endpoint("read")
    row.row_rule = "<filter><condition attribute='name' operator='eq' value='nobody'/></filter>"
    row.save()
    outcome = _try(dora, row, record=an_account().rpartition("/")[2]).context["outcome"]
    assert outcome.status == 404
    assert "telephone1" not in str(outcome.calls)


@pytest.mark.parametrize("kind", ["paginated-query", "multi-query", "single-query"])
def test_a_dry_query_is_not_sent(dora: Client, kind: str) -> None:
    row = Endpoint.objects.filter(kind=kind, module__segment="sales").earliest("id")
    given = {f"query__{known.name}": RITA_REP for known in row.inputs.filter(required=True)}
    outcome = _try(dora, row, user=RITA_REP, **given).context["outcome"]
    assert outcome.status == 0, outcome
    assert _calls(outcome, sent=True) == []
    (held,) = _calls(outcome, sent=False)
    assert held[1].startswith("<fetch")
    real = _try(dora, row, user=RITA_REP, mode="real", **given).context["outcome"]
    assert _calls(real, sent=True) == [held]


def test_a_dry_download_fetches_no_bytes(daring: Client) -> None:
    file = SimpleUploadedFile("contract.pdf", b"%PDF-1.7 contract", "application/pdf")
    record = an_account().rpartition("/")[2]
    given = {"roles": ["sales-manager"], "record": record}
    _try(daring, Endpoint.objects.get(kind="upload", name="contract"), upload=file, mode="real", **given)
    row = Endpoint.objects.get(kind="download", name="contract")
    outcome = _try(daring, row, **given).context["outcome"]
    assert [name for name, _ in _calls(outcome, sent=False)] == ["download"]


def test_an_empty_field_is_not_sent_and_its_absence_is_named(dora: Client) -> None:
    outcome = _try(dora, endpoint("create"), body__name="").context["outcome"]
    assert outcome.status == 400
    assert "/name: Is required." in " ".join(step.detail for step in outcome.steps)


def test_a_real_call_needs_a_right_of_its_own(dora: Client) -> None:
    User.objects.get(username="designer").groups.clear()
    own = Permission.objects.filter(content_type__app_label="designer").exclude(codename="call_for_real")
    User.objects.get(username="designer").user_permissions.set(own)
    answer = _try(dora, endpoint("create"), body__name="Contoso", mode="real")
    assert answer.context["outcome"] is None
    assert "mode" in answer.context["form"].errors


def test_a_real_call_is_done_and_noted(daring: Client) -> None:
    outcome = _try(daring, endpoint("create"), body__name="Tried", mode="real").context["outcome"]
    assert outcome.status == 200
    noted = AuditEntry.objects.filter(action=AuditEntry.Action.TRY).latest("id")
    assert (noted.account, noted.subject) == ("designer", "sales.accounts.create")
    assert "for real" in noted.detail
    assert "Tried" not in noted.detail


def test_a_file_is_uploaded(daring: Client) -> None:
    row = Endpoint.objects.get(kind="upload", name="contract")
    record = an_account().rpartition("/")[2]
    file = SimpleUploadedFile("ä contract.pdf", b"%PDF-1.7 contract", "application/pdf")
    outcome = _try(daring, row, roles=["sales-manager"], record=record, upload=file, mode="real").context[
        "outcome"
    ]
    assert outcome.status == 200, outcome
    stored = get_platform().retrieve("account", record, ("new_contract",)).values["new_contract"]
    assert "ä contract.pdf" in str(stored)


def test_a_draft_can_be_tried_before_it_is_served(dora: Client) -> None:
    Endpoint.objects.filter(kind="create").update(enabled=False)
    assert _try(dora, endpoint("create"), body__name="A").context["outcome"].status == 0


def test_who_may_not_change_may_not_try(portico: None) -> None:
    user = User.objects.create_user("vera", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_endpoint"))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(_url(endpoint("create"))).status_code == 403


def test_every_endpoint_of_the_demo_can_be_tried(dora: Client) -> None:
    for row in Endpoint.objects.all():
        page(dora, _url(row))
        answer = _try(dora, row, record=an_account().rpartition("/")[2], roles=["sales-manager", "support"])
        assert answer.context["outcome"] is not None, (row, answer.context["form"].errors)
        assert answer.context["outcome"].status < 500, row


def test_the_preview_follows_the_unsaved_form(dora: Client) -> None:
    row = endpoint("create")
    opened = page(dora, change_url(row))
    assert "curl -i -X POST &quot;http://testserver/api/sales/accounts&quot;" in opened.content.decode()
    data = filled(opened) | {"inputs-1-name": "mobile", "bindings-1-value_text": "mobile"}
    data["segment"] = "companies"
    state = dora.post(reverse("admin:designer_endpoint_check", args=[row.pk]), data).json()
    assert "mobile" in state["preview"]
    assert "/api/sales/companies" in state["preview"]
