"""Releases: numbered by what they mean to callers, and served again when restored."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.loading import load
from designer.models import AuditEntry, Endpoint, Input, Release, Version
from tests.callers import Caller
from tests.designer.studio import page


def _new(client: Client) -> Any:
    return page(client, reverse("studio:new_release"))


def _make(client: Client, **changes: Any) -> Release:
    form = _new(client).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    data = {name: value for name, value in shown.items() if value is not None} | changes
    answer = client.post(reverse("studio:new_release"), data)
    assert answer.status_code == 302, answer.context["form"].errors
    return Release.objects.latest("id")


def _proposed(client: Client) -> str:
    form = _new(client).context["form"]
    return f"{form['major'].value()}.{form['minor'].value()}"


def test_the_first_release_copies_the_configuration_as_it_is(dora: Client) -> None:
    assert "No release yet" in page(dora, reverse("studio:releases")).content.decode()
    release = _make(dora, name="Spring")
    assert (release.number, release.account) == ("1.0", "designer")
    assert release.document.encode() == to_bytes(export(load()))
    answer = page(dora, reverse("studio:release_document", args=[release.pk]))
    assert answer.content.decode() == release.document
    assert AuditEntry.objects.filter(action="release", subject="1.0 Spring").exists()


def test_an_addition_asks_for_the_next_minor_number(dora: Client) -> None:
    _make(dora)
    Input.objects.create(endpoint=Endpoint.objects.get(kind="create", entity__segment="leads"), name="extra")
    assert _proposed(dora) == "1.1"
    assert "input “extra” added" in _new(dora).context["form"]["changelog"].value()


def test_a_breaking_change_asks_for_the_next_major_number(dora: Client) -> None:
    _make(dora)
    Input.objects.filter(name="phone", endpoint__entity__segment="accounts").update(required=True)
    assert _proposed(dora) == "2.0"
    changelog = _new(dora).context["form"]["changelog"].value()
    assert changelog.startswith("Breaking:\n- endpoint sales.accounts.create: input “phone”: became required")


def test_a_number_is_given_once(dora: Client) -> None:
    _make(dora)
    data = {"major": 1, "minor": 0, "name": "Again", "changelog": "Typed with care"}
    answer = dora.post(reverse("studio:new_release"), data)
    assert answer.status_code == 422
    assert "There is a release with this number already." in answer.content.decode()
    assert "Typed with care" in answer.content.decode()


def test_a_release_is_served_again_when_it_is_restored(dora: Client, rita: Caller) -> None:
    release = _make(dora)
    Input.objects.filter(name="phone").update(required=True)
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 400
    text = page(dora, reverse("studio:release", args=[release.pk])).content.decode()
    assert "inputs.phone.required" in text
    dora.post(reverse("studio:restore_release", args=[release.pk]), {"_why": "The app broke"})
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    version = Version.objects.all()[0]
    assert (version.origin, version.note) == ("restore", "The app broke")
    assert to_bytes(export(load())).decode() == release.document


def test_a_release_that_cannot_be_read_any_more_says_so_and_changes_nothing(dora: Client) -> None:
    release = Release.objects.create(major=9, minor=9, document='{"format": 1, "inventions": []}')
    before = to_bytes(export(load()))
    assert "inventions" in page(dora, reverse("studio:release", args=[release.pk])).content.decode()
    answer = dora.post(reverse("studio:restore_release", args=[release.pk]), follow=True)
    assert "is not known" in answer.content.decode()
    assert to_bytes(export(load())) == before


def test_a_configuration_that_cannot_be_exported_cannot_be_released(dora: Client) -> None:
    Endpoint.objects.filter(kind="local-option-set").update(settings={"odd": 1})
    assert "cannot be exported" in _new(dora).content.decode()
    answer = dora.post(reverse("studio:new_release"), {"major": 1, "minor": 0})
    assert answer.status_code == 422
    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["releases", "new_release"])
def test_pages_of_releases_need_a_login(portico: None, name: str) -> None:
    assert Client().get(reverse(f"studio:{name}")).status_code == 302
