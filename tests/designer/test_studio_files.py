"""Uploads and downloads, made in the studio only by clicking."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from designer.models import Endpoint, ExposedEntity, Role
from tests.callers import Caller
from tests.designer.studio import add_url, change_url, errors, filled, page, send
from tests.runtime.accounts import an_account


@pytest.fixture
def upload(dora: Client) -> Endpoint:
    accounts = ExposedEntity.objects.get(segment="accounts")
    data = filled(page(dora, add_url("endpoint")))
    data |= {"kind": "upload", "entity": accounts.pk, "name": "letter", "title": "Send a letter"}
    assert send(dora, add_url("endpoint"), data).status_code == 302
    return Endpoint.objects.get(title="Send a letter")


def test_an_upload_is_made_and_served_in_one_form(dora: Client, rita: Caller) -> None:
    """At an entity, the form of a new endpoint asks for the column, the roles and whether it is served."""
    accounts = ExposedEntity.objects.get(segment="accounts")
    address = f"{add_url('endpoint')}?entity={accounts.pk}"
    opened = page(dora, address)
    column = opened.context["adminform"].form.fields["upload__attribute"]
    assert column.choices == [("new_contract", "Contract (new_contract)"), ("new_logo", "Logo (new_logo)")]
    data = filled(opened) | {"kind": "upload", "name": "letter"}
    role = Role.objects.get(name="sales-rep").pk
    saved = send(dora, address, data | {"callers": [role], "enabled": "on"})
    assert saved.status_code == 302, errors(saved)
    made = Endpoint.objects.get(kind="upload", name="letter")
    assert (made.enabled, made.settings["attribute"]) == (True, "new_contract")
    assert _post(rita, "a.txt", b"nine byte").status_code == 200
    assert Caller().post(f"{an_account()}/files/letter", b"x").status_code == 401


def test_an_upload_without_a_name_is_called_after_its_column(dora: Client) -> None:
    accounts, role = ExposedEntity.objects.get(segment="accounts"), Role.objects.get(name="sales-rep")
    address = f"{add_url('endpoint')}?entity={accounts.pk}"
    for column, name in (("new_logo", "logo"), ("new_logo", "logo-2"), ("new_contract", "contract-2")):
        data = filled(page(dora, address)) | {"kind": "upload", "name": "", "upload__attribute": column}
        saved = send(dora, address, data | {"enabled": "on", "callers": [role.pk]})
        assert saved.status_code == 302, errors(saved)
        assert Endpoint.objects.filter(kind="upload", entity=accounts, name=name, enabled=True).exists()


def test_what_cannot_be_served_yet_stays_a_draft(dora: Client) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts")
    data = filled(page(dora, add_url("endpoint"))) | {
        "kind": "upload",
        "entity": accounts.pk,
        "name": "letter",
    }
    answer = dora.post(add_url("endpoint"), data | {"enabled": "on", "upload__attribute": ""}, follow=True)
    assert not Endpoint.objects.get(kind="upload", name="letter").enabled
    assert "It is a draft. Complete it here, then switch it on." in answer.content.decode()


def _post(caller: Caller, name: str, body: bytes) -> Any:
    path = f"{an_account()}/files/letter"
    disposition = f"attachment; filename={name}"
    return caller.request("POST", path, body, content_type="text/plain", content_disposition=disposition)


def test_an_upload_is_made_by_choosing_its_column(dora: Client, rita: Caller, upload: Endpoint) -> None:
    opened = page(dora, change_url(upload))
    offered = dict(opened.context["adminform"].form.fields["settings__attribute"].choices)
    assert "new_contract" in offered
    assert "name" not in offered
    data = filled(opened) | {"enabled": "on"}
    assert "Choose a file column, or notes." in errors(send(dora, change_url(upload), data))
    data |= {
        "settings__attribute": "new_contract",
        "settings__extensions": ".TXT, md",
        "settings__max_size": "9 bytes",
    }
    saved = send(dora, change_url(upload), data)
    assert saved.status_code == 302, errors(saved)
    assert filled(page(dora, change_url(upload)))["settings__extensions"] == "md, txt"
    assert _post(rita, "a.txt", b"nine byte").status_code == 200
    assert _post(rita, "a.txt", b"ten bytes!").status_code == 413
    assert _post(rita, "a.pdf", b"nine byte").status_code == 415


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("content_types", "pdf", "“pdf” is not a content type, such as application/pdf or image/*."),
        ("extensions", "a b", "“a b” is not an extension, such as pdf."),
        ("max_size", "0", "Write a size from 1 byte to 10 GB."),
        ("max_size", "10737418241 bytes", "Write a size from 1 byte to 10 GB."),
        ("max_size", "10485760", "Write a size from 1 byte to 10 GB."),
        ("max_size", "1,500 KB", "Write a size with its unit, such as 10 MB or 500 KB."),
        ("max_size", "1.500 KB", "Write a size with its unit, such as 10 MB or 500 KB."),
        ("max_size", "10 megabytes", "Write a size with its unit, such as 10 MB or 500 KB."),
        ("max_size", "", "This field is required."),
    ],
)
def test_a_setting_that_can_never_be_right_is_refused_at_its_field(
    dora: Client, upload: Endpoint, field: str, text: str, message: str
) -> None:
    data = filled(page(dora, change_url(upload))) | {f"settings__{field}": text}
    refused = send(dora, change_url(upload), data)
    form = refused.context["adminform"].form
    assert form.errors[f"settings__{field}"] == [message]
    assert form[f"settings__{field}"].value() == text


@pytest.mark.parametrize(
    ("typed", "stored", "shown"),
    [
        ("10", 10 * 1024 * 1024, "10 MB"),
        ("10mb", 10 * 1024 * 1024, "10 MB"),
        ("1,5 MB", 1536 * 1024, "1536 KB"),
        ("0.5 GB", 512 * 1024 * 1024, "512 MB"),
        ("1000 bytes", 1000, "1000 bytes"),
    ],
)
def test_the_largest_size_is_written_and_shown_with_its_unit(
    dora: Client, upload: Endpoint, typed: str, stored: int, shown: str
) -> None:
    opened = page(dora, change_url(upload))
    assert 'value="10 MB"' in opened.content.decode()
    saved = send(dora, change_url(upload), filled(opened) | {"settings__max_size": typed})
    assert saved.status_code == 302, errors(saved)
    upload.refresh_from_db()
    # The default is not stored.
    assert upload.settings.get("max_size", 10 * 1024 * 1024) == stored
    assert f'value="{shown}"' in page(dora, change_url(upload)).content.decode()


def test_a_size_that_the_column_does_not_hold_is_lowered_by_a_click(dora: Client, upload: Endpoint) -> None:
    data = filled(page(dora, change_url(upload)))
    data |= {"settings__attribute": "new_contract", "settings__max_size": "1 GB"}
    assert send(dora, change_url(upload), data).status_code == 302
    found = page(dora, change_url(upload)).content.decode()
    assert "“new_contract” holds files of at most 128 MB." in found
    assert "Set it to 128 MB" in found
    assert "&quot;settings__max_size&quot;: &quot;128 MB&quot;" in found
