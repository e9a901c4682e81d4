"""Example calls in the studio: kept from “Try it”, made by a button, edited and removed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from designer.definitions.example_calls import LARGEST_SAMPLE
from designer.documents.document_writer import export
from designer.history.effects import Effect
from designer.loading import load
from designer.models import AuditEntry, Endpoint, ItemChange, Proposal
from tests.designer.proposing import protect
from tests.designer.studio import change_url, filled, page, send
from tests.designer.test_studio_transfer import send_document
from tests.designer.two_people import while_it_waits
from tests.runtime.accounts import an_account, endpoint, stored
from tests.runtime.files.sending import PDF

CONTOSO = "Contoso's secret name"


def _url(row: Endpoint, view: str) -> str:
    return reverse(f"admin:designer_endpoint_{view}", args=[row.pk])


def _keep(client: Client, row: Endpoint, name: str, **data: Any) -> Any:
    token = page(client, _url(row, "try")).context["token"]
    given = {"caller": "token", "roles": ["sales-rep"], "user": RITA_REP, "mode": "dry", "_call": token}
    keep = {"_keep": "1", "_keep_as": name}
    return client.post(_url(row, "try"), {**given, **data, **keep}, follow=True)


def _kept(row: Endpoint) -> list[Any]:
    return list(load().endpoints[row.pk].definition.example_calls)


def _said(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


def test_a_tried_call_is_kept_with_the_shape_of_its_answer_and_none_of_its_values(dora: Client) -> None:
    row, account = endpoint("read"), an_account(name=CONTOSO)
    record = account.rpartition("/")[2]
    answer = _keep(dora, row, "an account", record=record)
    assert "The call was kept." in _said(answer)
    (call,) = _kept(row)
    assert (call.name, call.record, call.roles, call.status) == ("an account", record, ("sales-rep",), 200)
    assert call.shape["name"] == "string"
    assert (call.values, CONTOSO in str(call.to_json())) == ({}, False)
    assert CONTOSO not in answer.content.decode()
    change = ItemChange.objects.order_by("-pk")[0]
    assert (change.collection, change.key, change.version.effect) == (
        "endpoints",
        "sales.accounts.read",
        Effect.ADDITIVE.value,
    )
    assert "Example calls (1)" in page(dora, change_url(row)).content.decode()


def test_a_write_is_kept_without_being_made(dora: Client) -> None:
    row = endpoint("update")
    account = an_account(name="Contoso")
    record = account.rpartition("/")[2]
    _keep(dora, row, "renamed", record=record, body__name="Fabrikam", mode="real")
    (call,) = _kept(row)
    assert (call.body, call.status, call.shape) == ({"name": "Fabrikam"}, 204, None)
    assert stored(account, "name") == "Contoso"


@pytest.mark.parametrize(("name", "why"), [("", "This field is required."), ("there", "called “there”")])
def test_a_call_is_kept_under_a_name_of_its_own(dora: Client, name: str, why: str) -> None:
    row = endpoint("create")
    _keep(dora, row, "there", body__name="Contoso")
    answer = _keep(dora, row, name, body__name="Fabrikam")
    assert why in _said(answer)
    # What was filled in is still there.
    assert "Fabrikam" in answer.content.decode()
    assert [call.body for call in _kept(row)] == [{"name": "Contoso"}]


def test_a_button_makes_the_calls_and_says_what_is_not_as_expected(dora: Client) -> None:
    row = endpoint("read")
    record = an_account(name=CONTOSO).rpartition("/")[2]
    _keep(dora, row, "an account", record=record)
    url = _url(row, "example-calls")
    assert "as expected" in dora.post(url, {"_run": "1"}).content.decode()
    edit = f"{_url(row, 'example-call')}?name=an+account"
    values = {"name": "not for reps", "status": "200", "has_shape": "on", "refused_for": ["sales-rep"]}
    assert dora.post(edit, {**values, "value__/name": "Another"}).status_code == 302
    answer = dora.post(url, {"_run": "1"}).content.decode()
    assert "A caller who has only the role “sales-rep” is not refused." in answer
    assert "/name does not have the expected value" in answer
    assert CONTOSO not in answer
    entry = AuditEntry.objects.filter(action=AuditEntry.Action.TRY).latest("pk")
    assert (entry.subject, entry.detail) == ("sales.accounts.read", "example calls: 1 made, 1 failed")


def test_values_are_expected_where_they_are_typed_by_those_who_may_see_them(dora: Client) -> None:
    row = endpoint("read")
    _keep(dora, row, "an account", record=an_account(name=CONTOSO).rpartition("/")[2])
    edit = f"{_url(row, 'example-call')}?name=an+account"
    shown = page(dora, edit)
    fields = {name: field for name, field in shown.context["form"].fields.items() if "value__" in name}
    assert {field.initial for field in fields.values()} == {""}
    given = {"name": "an account", "status": "200", "value__/name": CONTOSO}
    dora.post(edit, given)
    (call,) = _kept(row)
    # The box for the shape was not ticked.
    assert (call.values, call.shape) == ({"/name": CONTOSO}, None)
    permission = Permission.objects.get(codename="call_for_real")
    User.objects.get(username="designer").user_permissions.remove(permission)
    assert "value__/name" not in page(dora, edit).context["form"].fields
    dora.post(edit, {**given, "value__/name": "guessed"})
    assert _kept(row)[0].values == {"/name": CONTOSO}


def test_where_the_module_is_protected_a_call_is_kept_as_a_proposal(dora: Client) -> None:
    row = endpoint("read")
    protect()
    record = an_account(name=CONTOSO).rpartition("/")[2]
    refused = _keep(dora, row, "an account", record=record)
    assert (refused.status_code, refused.redirect_chain) == (200, [])
    assert "is protected" in _said(refused)
    assert "Edit as a proposal" in _said(refused)
    opened = _keep(dora, row, "an account", record=record, _propose="")
    assert opened.redirect_chain == [(reverse("studio:proposal", args=[Proposal.objects.get().pk]), 302)]
    assert opened.status_code == 200
    assert not _kept(row)


EXPECTED = {"/name": "10023", "/phone": "true", "/a": "", "/b": None, "/c": 7, "/d": False, "/e": "a text"}


@pytest.mark.parametrize("has_shape", [True, False])
def test_a_page_that_is_saved_without_a_change_expects_what_it_did(dora: Client, has_shape: bool) -> None:
    row = endpoint("read")
    _keep(dora, row, "an account", record=an_account(name=CONTOSO).rpartition("/")[2])
    (call,) = _kept(row)
    row.example_calls = [{**call.to_json(), "values": EXPECTED} | ({} if has_shape else {"shape": None})]
    row.save()
    edit = f"{_url(row, 'example-call')}?name=an+account"
    form = page(dora, edit).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    dora.post(edit, {name: "on" if value is True else value for name, value in sent.items()})
    assert _kept(row)[0].values == EXPECTED
    dora.post(edit, {**sent, "value__/b": "", "value__/c": "8"})
    changed = {place: value for place, value in EXPECTED.items() if place != "/b"} | {"/c": 8}
    assert _kept(row)[0].values == changed


def _opened(client: Client, edit: str) -> dict[str, Any]:
    """What a browser that has just opened the page of an example call would send."""
    return _held(page(client, edit))


def _held(answer: Any) -> dict[str, Any]:
    form = answer.context["form"]
    sent = {name: form[name].value() for name in form.fields}
    fields = {name: "on" if value is True else value for name, value in sent.items() if value is not None}
    return fields | {"_seen": answer.context["seen"]}


def test_an_example_call_that_somebody_else_has_saved_is_asked_about(dora: Client) -> None:
    row = endpoint("create")
    _keep(dora, row, "there", body__name="Contoso")
    edit = f"{_url(row, 'example-call')}?name=there"
    mine, theirs = _opened(dora, edit), _opened(dora, edit)
    assert dora.post(edit, theirs | {"status": "409"}).status_code == 302
    wrong = dora.post(edit, mine | {"status": "1"})
    asked = dora.post(edit, _held(wrong) | {"status": "422"})
    assert "somebody else has changed this example call" in _said(asked)
    assert "somebody else has changed" in _said(dora.post(edit, mine | {"_remove": "1"}))
    assert [call.status for call in _kept(row)] == [409]
    assert dora.post(edit, _held(asked)).status_code == 302
    assert [call.status for call in _kept(row)] == [422]


def test_an_example_call_that_somebody_else_has_renamed_is_not_made_again(dora: Client) -> None:
    row = endpoint("create")
    _keep(dora, row, "there", body__name="Contoso")
    edit = f"{_url(row, 'example-call')}?name=there"
    mine, theirs = _opened(dora, edit), _opened(dora, edit)
    with while_it_waits(lambda: dora.post(edit, theirs | {"name": "here"}), may_raise=True):
        answer = dora.post(edit, mine | {"status": "409"}, follow=True)
    assert "somebody else has removed or renamed the example call “there”" in _said(answer)
    assert "somebody else has removed" in _said(dora.post(edit, mine, follow=True))
    assert [(call.name, call.status) for call in _kept(row)] == [("here", 200)]


def test_two_calls_that_are_kept_under_one_name_at_once_are_not_one(dora: Client) -> None:
    row = endpoint("create")
    with while_it_waits(lambda: _keep(dora, row, "there", body__name="Contoso"), may_raise=True):
        answer = _keep(dora, row, "there", body__name="Fabrikam")
    assert "Another example call is called “there”" in answer.content.decode()
    assert [call.body for call in _kept(row)] == [{"name": "Contoso"}]


def test_an_example_call_is_removed(dora: Client) -> None:
    row = endpoint("create")
    _keep(dora, row, "there", body__name="Contoso")
    edit = f"{_url(row, 'example-call')}?name=there"
    assert dora.post(edit, {"_remove": "1"}).status_code == 302
    assert _kept(row) == []
    assert dora.get(edit).status_code == 404
    assert "no example call yet" in page(dora, _url(row, "example-calls")).content.decode()


def test_the_studio_imports_what_fails_a_call_only_when_it_is_told_to(dora: Client) -> None:
    row = endpoint("create")
    _keep(dora, row, "there", body__name="Contoso")
    document = export(load()).to_json()
    (kept,) = [item for item in document["endpoints"] if "example_calls" in item]
    kept["example_calls"][0]["status"] = 409
    planned = send_document(dora, document)
    assert "The example call “there” of sales.accounts.create would fail" in planned.content.decode()
    digest = planned.context["trial"].digest
    assert "would fail" in send_document(dora, document, digest=digest).content.decode()
    assert _kept(row)[0].status == 200
    assert send_document(dora, document, digest=digest, allow_failing_calls="1").status_code == 302
    assert _kept(row)[0].status == 409


def test_a_page_that_was_open_meanwhile_is_saved_and_takes_no_call_back(dora: Client) -> None:
    row = endpoint("create")
    data = filled(page(dora, change_url(row)))
    _keep(dora, row, "there", body__name="Contoso")
    assert send(dora, change_url(row), data | {"title": "Another title"}).status_code == 302
    assert [call.name for call in _kept(row)] == ["there"]
    assert load().endpoints[row.pk].definition.title == "Another title"


def test_viewers_keep_and_make_none(portico: None) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename="view_endpoint"))
    client = Client()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    row = endpoint("create")
    assert client.get(_url(row, "example-calls")).status_code == 403
    assert client.post(_url(row, "example-calls"), {"_run": "1"}).status_code == 403


def test_of_a_file_only_type_extension_and_size_are_kept(dora: Client) -> None:
    row = Endpoint.objects.get(kind="upload", name="contract", entity__segment="accounts")
    record = an_account(name="Contoso").rpartition("/")[2]
    file = SimpleUploadedFile("Ann's passport.PDF", PDF, "application/pdf")
    assert "sends a sample file like it" in page(dora, _url(row, "try")).content.decode()
    answer = _keep(dora, row, "a contract", record=record, upload=file)
    assert "The call was kept." in _said(answer)
    (call,) = _kept(row)
    assert call.to_json()["upload"] == {
        "name": "sample.pdf",
        "content_type": "application/pdf",
        "size": len(PDF),
    }
    assert (call.body, dict(call.headers), call.status) == (None, {}, 200)
    assert call.shape == {"id": "string", "fileName": "string", "contentType": "string", "size": "number"}
    assert "passport" not in json.dumps(call.to_json())
    assert stored(f"/{record}", "new_contract") is None
    assert "as expected" in dora.post(_url(row, "example-calls"), {"_run": "1"}).content.decode()
    assert stored(f"/{record}", "new_contract") is None


def test_a_file_of_json_is_kept_as_a_file(dora: Client) -> None:
    row = Endpoint.objects.get(kind="upload", name="notes", entity__segment="accounts")
    record = an_account(name="Contoso").rpartition("/")[2]
    file = SimpleUploadedFile("data.json", b'{"name": "Ann"}', "application/json")
    _keep(dora, row, "data", record=record, upload=file)
    (call,) = _kept(row)
    assert (call.body, call.upload.name, call.upload.size) == (None, "sample.json", 15)


def test_a_file_that_is_too_large_to_be_made_up_each_time_is_not_kept(dora: Client) -> None:
    row = Endpoint.objects.get(kind="upload", name="notes", entity__segment="accounts")
    record = an_account(name="Contoso").rpartition("/")[2]
    file = SimpleUploadedFile("a.bin", bytes(LARGEST_SAMPLE + 1))
    answer = _keep(dora, row, "large", record=record, upload=file)
    assert "the file is larger than 16 MB. Choose a smaller file." in _said(answer)
    assert _kept(row) == []
