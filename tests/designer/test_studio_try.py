"""“Try it” and the preview, as Dora uses them."""

from __future__ import annotations

import datetime as dt
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from crmclient.query.ast import Column, Page, Query
from designer.models import AuditEntry, Endpoint, TriedCall
from designer.platform import get_platform
from designer.studio.trying import tried_calls
from tests.designer.studio import change_url, filled, page
from tests.runtime.accounts import an_account, endpoint


def _url(row: Endpoint) -> str:
    return reverse("admin:designer_endpoint_try", args=[row.pk])


def _form(client: Client, row: Endpoint, **data: Any) -> dict[str, Any]:
    """What a browser sends that has just opened the page and filled it in."""
    token = page(client, _url(row)).context["token"]
    return {"caller": "token", "roles": ["sales-rep"], "user": "", "mode": "dry", "_call": token, **data}


def _try(client: Client, row: Endpoint, **data: Any) -> Any:
    answer = client.post(_url(row), _form(client, row, **data), follow=True)
    assert answer.status_code == 200
    return answer


def _accounts() -> int:
    query = Query("account", (Column("accountid"),))
    return get_platform().query(query, Page(size=1, total=True)).total or 0


def _said(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


@pytest.fixture
def max_studio(portico: None) -> Client:
    """Another account of the studio that may call for real."""
    client = Client()
    other = User.objects.create_superuser("other")
    client.force_login(other, backend="django.contrib.auth.backends.ModelBackend")
    return client


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
    assert ("1", "Accounting (1)") in form.fields["body__industry"].choices


def test_a_dry_run_shows_the_platforms_request(dora: Client) -> None:
    answer = _try(dora, endpoint("create"), body__name="Contoso", body__revenue="12.50")
    text = answer.content.decode()
    assert "was not sent" in text
    assert "&quot;revenue&quot;: 12.5" in text


def _calls(outcome: Any, *, sent: bool) -> list[tuple[str, str]]:
    return [(call.operation, call.request) for call in outcome.calls if call.sent is sent]


def test_it_says_how_old_an_answer_may_be_that_callers_get(daring: Client) -> None:
    row = endpoint("read")
    record = an_account().rpartition("/")[2]
    assert "the cache" not in _said(_try(daring, row, record=record, mode="real"))
    row.settings = {**row.settings, "cache": {"seconds": 60, "stale_seconds": 300}}
    row.save()
    for mode in ("real", "dry"):
        said = " ".join(_try(daring, row, record=record, mode=mode).content.decode().split())
        assert "up to 60 seconds old, and up to 300 seconds older while the platform is throttled" in said


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
    given = {f"query__{parameter.name}": RITA_REP for parameter in row.inputs.filter(required=True)}
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


def test_a_file_is_asked_for_once(dora: Client) -> None:
    form = page(dora, _url(Endpoint.objects.get(kind="upload", name="contract"))).context["form"]
    assert [name for name in form.fields if "file" in name or "upload" in name] == ["upload"]
    assert form.fields["upload"].label == "file *"
    assert form.fields["upload"].help_text.startswith("At most 128 MB. Ends in .docx")


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
    assert all(part.strip() for part in noted.detail.split(";"))
    assert "Tried" not in noted.detail


def test_a_real_call_answers_with_the_address_of_its_answer(daring: Client) -> None:
    row, before = endpoint("create"), _accounts()
    sent = daring.post(_url(row), _form(daring, row, body__name="Tried", mode="real"))
    assert sent.status_code == 303
    for _ in range(3):
        shown = daring.get(sent["Location"])
        assert shown.context["outcome"].status == 200
        assert shown.context["form"]["body__name"].value() == "Tried"
    assert _accounts() == before + 1
    assert AuditEntry.objects.filter(action=AuditEntry.Action.TRY).count() == 1


def test_what_is_sent_again_is_not_called_again(daring: Client) -> None:
    row, before = endpoint("create"), _accounts()
    form = _form(daring, row, body__name="Tried", mode="real")
    first = daring.post(_url(row), form)
    again = daring.post(_url(row), form, follow=True)
    assert again.redirect_chain[-1][0] == first["Location"]
    assert "made once, and not again" in _said(again)
    assert again.context["outcome"].status == 200
    assert _accounts() == before + 1
    # The page of the answer has a token of its own: pressing the button there is another call.
    daring.post(_url(row), {**form, "_call": again.context["token"]})
    assert _accounts() == before + 2


def test_a_form_that_was_used_for_another_call_calls_nothing_and_loses_nothing(daring: Client) -> None:
    row, before = endpoint("create"), _accounts()
    form = _form(daring, row, body__name="Tried", mode="real")
    daring.post(_url(row), form)
    changed = daring.post(_url(row), {**form, "body__name": "Changed"})
    assert changed.status_code == 200
    assert "used for another call" in _said(changed)
    assert changed.context["form"]["body__name"].value() == "Changed"
    assert _accounts() == before + 1
    daring.post(_url(row), {**form, "body__name": "Changed", "_call": changed.context["token"]})
    assert _accounts() == before + 2


@pytest.mark.parametrize("token", ["", "x", "00000000-0000-4000-8000-000000000000"])
def test_a_real_call_without_a_token_of_the_form_is_not_made(daring: Client, token: str) -> None:
    row, before = endpoint("create"), _accounts()
    form = _form(daring, row, body__name="Tried", mode="real", _call=token)
    assert "not made" in _said(daring.post(_url(row), form))
    assert _accounts() == before


def test_a_token_is_no_longer_good_than_calls_are_kept(daring: Client, monkeypatch: Any) -> None:
    row, before = endpoint("create"), _accounts()
    form = _form(daring, row, body__name="Tried", mode="real")
    place = daring.post(_url(row), form)["Location"]
    TriedCall.objects.update(made_at=dt.datetime.now(dt.UTC) - tried_calls.KEPT_FOR)
    assert "not kept any more" in _said(daring.get(place))
    monkeypatch.setattr(tried_calls, "KEPT_FOR", dt.timedelta(0))
    assert "not made" in _said(daring.post(_url(row), form))
    assert _accounts() == before + 1


def test_an_answer_is_shown_to_who_called_alone(daring: Client, max_studio: Client) -> None:
    row = endpoint("create")
    place = daring.post(_url(row), _form(daring, row, body__name="Tried", mode="real"))["Location"]
    assert max_studio.get(place).context["outcome"] is None
    User.objects.get(username="designer").groups.clear()
    User.objects.get(username="designer").user_permissions.set(
        Permission.objects.filter(content_type__app_label="designer").exclude(codename="call_for_real")
    )
    assert daring.get(place).status_code == 403


def test_a_call_that_is_under_way_is_waited_for_and_a_lost_one_is_said(daring: Client) -> None:
    row = endpoint("create")
    place = daring.post(_url(row), _form(daring, row, body__name="Tried", mode="real"))["Location"]
    TriedCall.objects.update(outcome=None)
    text = daring.get(place).content.decode()
    assert 'http-equiv="refresh"' in text
    assert "under way" in text
    TriedCall.objects.update(made_at=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5))
    text = daring.get(place).content.decode()
    assert 'http-equiv="refresh"' not in text
    assert "The result of this call is not known" in text


def test_a_real_call_of_an_unsaved_page_shows_its_answer_as_that_page_stands(daring: Client) -> None:
    row = endpoint("create")
    data = filled(page(daring, change_url(row))) | {"inputs-1-name": "mobile"}
    data |= {"bindings-1-value_text": "mobile"}
    unsaved = urlencode(data, doseq=True)
    answer = _try(daring, row, _unsaved=unsaved, body__name="Tried", body__mobile="1", mode="real")
    assert answer.context["outcome"].status == 200
    assert answer.context["unsaved"] == unsaved
    assert "body__mobile" in answer.context["form"].fields


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


def test_what_the_services_own_parameters_are_for_is_said_in_the_readers_language(dora: Client) -> None:
    dora.cookies["django_language"] = "de"
    industries = Endpoint.objects.get(kind="local-option-set")
    accounts = Endpoint.objects.get(kind="paginated-query", name="accounts")
    shown = page(dora, _url(industries)).content.decode()
    assert "Die Sprache von Texten und Bezeichnungen, eine LCID." in shown
    assert "The language of texts" not in shown
    texts = [field.help_text for field in page(dora, _url(accounts)).context["form"].fields.values()]
    assert any("Zeilen je Seite." in text for text in texts)
    # Documents are English, whoever reads them.
    assert not any("The cursor" in text or "Rows a page" in text for text in texts)
