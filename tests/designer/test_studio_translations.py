"""Translations in the studio: what lacks, and a page that writes them beside the base texts."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.history.wording import lines
from designer.models import AuditEntry, Endpoint, Input, Module, Precondition, Proposal, Version
from tests.callers import Caller
from tests.designer.proposing import create_endpoint, member, protect
from tests.designer.studio import change_url, page
from tests.designer.two_people import opened, save, while_it_waits

OVERVIEW = "/admin/translations/"
GERMAN, ARABIC = 1031, 1025


@pytest.fixture
def create(portico: None) -> Endpoint:
    """With a title, a label and a message, all without translations."""
    for model in (Endpoint, Module, Input, Precondition):
        model._default_manager.update(translations={})
    row = create_endpoint()
    row.title = "Create an account"
    row.save()
    row.inputs.filter(name="name").update(label="Company")
    Precondition.objects.create(endpoint=row, expression="true", message="No.")
    return row


def _url(row: Endpoint | Module, lcid: int = GERMAN, more: str = "") -> str:
    name = "studio:translations_of_module" if isinstance(row, Module) else "studio:translations_of"
    return f"{reverse(name, args=[row.pk])}?language={lcid}{more}"


def _opened(client: Client, url: str) -> dict[str, Any]:
    """What a browser that has just opened the page would send."""
    return _held(page(client, url))


def _held(answer: Any) -> dict[str, Any]:
    context = answer.context
    fields = {field.text.place: field.value for field in (*context["fields"], *context["folded"])}
    return {**fields, "opened": context["opened"]}


def _row(text: str, called: str) -> str:
    """The cells of the overview behind the name of an endpoint or a module."""
    match = re.search(rf"<code>{re.escape(called)}</code></a></th>(.*?)</tr>", text.replace("<wbr>", ""))
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", match[1]))) if match else ""


def test_texts_are_written_beside_their_base_and_served_at_once(
    dora: Client, create: Endpoint, rita: Caller
) -> None:
    data = _opened(dora, _url(create))
    assert data["title"] == ""
    sent = data | {"title": "Konto anlegen", "inputs.name.label": "Firma", "preconditions.0.message": "Nein."}
    saved = dora.post(_url(create), sent, follow=True)
    assert "German (1031) texts of POST /api/sales/accounts saved." in unescape(saved.content.decode())
    assert _held(saved)["inputs.name.label"] == "Firma"
    call = rita.get("/api/schema/entities/sales.accounts?lcid=1031").json()["operations"]["create"]
    assert call["title"] == "Konto anlegen"
    assert next(field for field in call["fields"] if field["name"] == "name")["label"] == "Firma"
    version = Version.objects.latest("id")
    texts = [
        line.text
        for change in version.changes.all()
        for line in lines(change.collection, change.before, change.after)
    ]
    assert "translations changed: German (1031)" in texts
    assert AuditEntry.objects.filter(detail__startswith="translations: 1031").exists()
    # Emptied again, and the row is as it was.
    dora.post(_url(create), _held(saved) | {"title": ""})
    create.refresh_from_db()
    assert create.translations == {}


def test_a_save_of_the_endpoints_own_page_keeps_them(dora: Client, create: Endpoint) -> None:
    dora.post(_url(create), _opened(dora, _url(create)) | {"title": "Konto", "inputs.name.label": "Firma"})
    save(dora, create, opened(dora, create) | {"title": "Another"})
    create.refresh_from_db()
    assert (create.title, create.translations) == ("Another", {"1031": {"title": "Konto"}})
    assert create.inputs.get(name="name").translations == {"1031": {"label": "Firma"}}
    assert (
        f'href="{reverse("studio:translations_of", args=[create.pk])}"'
        in page(dora, change_url(create)).content.decode()
    )


def test_two_people_translate_at_once_and_nothing_is_lost(dora: Client, create: Endpoint) -> None:
    first, second = _opened(dora, _url(create)), _opened(dora, _url(create))
    arabic = _opened(dora, _url(create, ARABIC))
    assert dora.post(_url(create), first | {"title": "Konto anlegen"}).status_code == 302
    assert dora.post(_url(create), second | {"inputs.name.label": "Firma"}).status_code == 302
    assert dora.post(_url(create, ARABIC), arabic | {"title": "إنشاء حساب"}).status_code == 302
    create.refresh_from_db()
    assert create.translations == {"1025": {"title": "إنشاء حساب"}, "1031": {"title": "Konto anlegen"}}
    # Both have written the same text: the second says which it is to be.
    asked = dora.post(_url(create), second | {"title": "Anlegen"})
    assert asked.status_code == 422
    text = unescape(asked.content.decode())
    assert "Somebody else changed this text" in text
    assert "Konto anlegen" in text
    assert dora.post(_url(create), _held(asked)).status_code == 302
    create.refresh_from_db()
    assert create.translations["1031"] == {"title": "Anlegen"}


def test_a_text_that_is_too_long_is_refused_and_nothing_typed_is_lost(dora: Client, create: Endpoint) -> None:
    sent = _opened(dora, _url(create)) | {"title": "A" * 201, "inputs.name.label": "Firma"}
    answer = dora.post(_url(create), sent)
    assert answer.status_code == 422
    assert "The text has 201 characters; at most 200 are possible." in answer.content.decode()
    assert _held(answer)["inputs.name.label"] == "Firma"
    create.refresh_from_db()
    assert create.translations == {}


def test_a_text_that_somebody_saves_while_another_save_waits_is_asked_about(
    dora: Client, create: Endpoint
) -> None:
    first, second = _opened(dora, _url(create)), _opened(dora, _url(create))
    with while_it_waits(lambda: dora.post(_url(create), first | {"title": "Konto anlegen"})):
        asked = dora.post(_url(create), second | {"title": "Anlegen", "preconditions.0.message": "Nein."})
    assert asked.status_code == 422
    assert "Konto anlegen" in asked.content.decode()
    create.refresh_from_db()
    assert create.translations["1031"] == {"title": "Konto anlegen"}
    with while_it_waits(lambda: dora.post(_url(create), first | {"description": "Legt es an"})):
        assert dora.post(_url(create), _held(asked)).status_code == 302
    create.refresh_from_db()
    assert create.translations["1031"] == {"title": "Anlegen", "description": "Legt es an"}


def test_a_text_of_somebody_else_is_shown_beside_one_that_is_too_long(dora: Client, create: Endpoint) -> None:
    mine = _opened(dora, _url(create))
    dora.post(_url(create), mine | {"title": "Konto anlegen"})
    answer = unescape(dora.post(_url(create), mine | {"title": "A" * 201}).content.decode())
    assert "The text has 201 characters" in answer
    assert "Konto anlegen" in answer


def test_texts_of_an_endpoint_that_is_deleted_while_their_save_waits_are_not_found(
    dora: Client, create: Endpoint
) -> None:
    mine = _opened(dora, _url(create)) | {"title": "Konto anlegen"}
    with while_it_waits(lambda: Endpoint.objects.filter(pk=create.pk).delete()):
        assert dora.post(_url(create), mine).status_code == 404


def test_a_character_that_not_every_database_can_store_is_left_out(dora: Client, create: Endpoint) -> None:
    dora.post(_url(create), _opened(dora, _url(create)) | {"title": "Kon\0to"})
    create.refresh_from_db()
    assert create.translations[str(GERMAN)]["title"] == "Konto"


def test_the_platforms_labels_are_a_start(dora: Client, create: Endpoint) -> None:
    assert "Start with the platform" in unescape(page(dora, _url(create)).content.decode())
    started = _opened(dora, _url(create, more="&start=1"))
    assert started["inputs.name.label"]
    assert not create.inputs.get(name="name").translations
    dora.post(_url(create), started)
    assert create.inputs.get(name="name").translations["1031"]["label"] == started["inputs.name.label"]


def test_the_overview_says_what_lacks_which_language(dora: Client, create: Endpoint) -> None:
    assert "No text has a translation yet." in page(dora, OVERVIEW).content.decode()
    called = "POST /api/sales/accounts"
    german = page(dora, f"{OVERVIEW}?language={GERMAN}").content.decode()
    assert " of " in _row(german, called)
    data = _opened(dora, _url(create))
    dora.post(_url(create), data | {place: "Text" for place, _ in data.items() if place != "opened"})
    text = page(dora, OVERVIEW).content.decode()
    assert "✔" in _row(text, called)
    assert "Arabic" not in _row(text, called)
    assert _row(page(dora, f"{OVERVIEW}?lacking=1&module=sales").content.decode(), called) == ""
    assert "0 of" in _row(page(dora, f"{OVERVIEW}?language={ARABIC}&lacking=1").content.decode(), called)
    assert _row(page(dora, f"{OVERVIEW}?module=service").content.decode(), called) == ""
    assert dora.get(f"{OVERVIEW}?language=de").status_code == 404


def test_modules_are_translated_too(dora: Client, create: Endpoint, rita: Caller) -> None:
    module = Module.objects.get(segment="sales")
    dora.post(_url(module), _opened(dora, _url(module)) | {"title": "Vertrieb"})
    listed = rita.get("/api/schema/modules?lcid=1031").json()["modules"]
    assert next(entry for entry in listed if entry["name"] == "sales")["title"] == "Vertrieb"


def test_what_is_protected_is_translated_by_a_proposal(create: Endpoint) -> None:
    paul = member("paul", "Publisher")
    protect("sales")
    sent = _opened(paul, _url(create)) | {"title": "Konto anlegen"}
    refused = paul.post(_url(create), sent)
    assert refused.status_code == 422
    assert _held(refused)["title"] == "Konto anlegen"
    assert paul.post(_url(create), sent | {"_propose": "1"}).status_code == 302
    create.refresh_from_db()
    assert create.translations == {}
    assert "Konto anlegen" in str(Proposal.objects.get().document)


def test_who_may_only_look_sees_texts_and_saves_none(create: Endpoint) -> None:
    viewer = member("vera", "Viewer")
    answer = page(viewer, _url(create))
    assert "readonly" in answer.content.decode()
    assert viewer.post(_url(create), _held(answer) | {"title": "Konto"}).status_code == 403
