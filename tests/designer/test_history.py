"""Versions: every change with who, why and what; past the studio too; and the way back."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.history.readable_versions import read_changes
from designer.history.recording import Author, record_outside, recording
from designer.loading import load
from designer.models import Endpoint, Input, Role, UserProperty, Version
from designer.studio.saving.checked_save import versions_of
from project.demo import CONFIGURATION
from tests.callers import Caller
from tests.designer.studio import add_url, as_by_browser, change_url, errors, filled, page, send


def _accounts_endpoint() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _save(client: Client, row: Any, **changes: Any) -> Any:
    answer = send(client, change_url(row), filled(page(client, change_url(row))) | changes)
    assert answer.status_code == 302, errors(answer)
    return answer


def _restore(client: Client, version: Version, **data: Any) -> Any:
    return client.post(reverse("studio:restore_version", args=[version.pk]), data, follow=True)


def _text(client: Client, version: Version) -> str:
    text: str = page(client, reverse("studio:version", args=[version.pk])).content.decode()
    return text


def test_a_save_becomes_a_version_with_its_author_its_reason_and_its_meaning(dora: Client) -> None:
    data = filled(page(dora, change_url(_accounts_endpoint())))
    data |= {"inputs-1-required": "on", "_why": "The portal always sends it"}
    assert send(dora, change_url(_accounts_endpoint()), data).status_code == 302
    version = Version.objects.all()[0]
    assert (version.account, version.origin, version.effect) == ("designer", "studio", "breaking")
    text = _text(dora, version)
    assert "The portal always sends it" in text
    assert "input “phone”: became required" in text
    assert "endpoint sales.accounts.create" in text


def test_saving_a_page_unchanged_makes_no_version(dora: Client) -> None:
    record_outside()
    before = Version.objects.count()
    _save(dora, _accounts_endpoint())
    assert Version.objects.count() == before


def test_saving_a_page_unchanged_in_a_browser_keeps_every_line(dora: Client) -> None:
    endpoint = _accounts_endpoint()
    Endpoint.objects.filter(pk=endpoint.pk).update(description="\nOne\n\nTwo\n")
    name, phone = endpoint.inputs.filter(parent=None).order_by("position")[:2]
    Input.objects.filter(pk=name.pk).update(
        description="One\nTwo", default=" One\nTwo ", allowed=[" One\nTwo ", "Three"]
    )
    Input.objects.filter(pk=phone.pk).update(default=" 1 ", allowed=[" 1 ", "2", "3"])
    endpoint.bindings.create(attribute="description", source="constant", value="One\nTwo", position=90)
    endpoint.bindings.create(attribute="fax", source="expression", value="'a' +\n'b'", position=91)
    endpoint.preconditions.create(expression="1 == 1 ||\n2 == 2", message="A", position=90)
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    read.columns.create(name="both", expression="'a' +\n'b'", position=90)
    record_outside()
    before, stored = Version.objects.count(), to_bytes(export(load()))
    for row in (endpoint, read):
        answer = send(dora, change_url(row), as_by_browser(page(dora, change_url(row))))
        assert answer.status_code == 302, errors(answer)
    assert to_bytes(export(load())) == stored
    assert Version.objects.count() == before


def test_lines_that_are_typed_in_a_browser_end_with_a_line_feed(dora: Client) -> None:
    endpoint = _accounts_endpoint()
    data = as_by_browser(page(dora, change_url(endpoint)))
    data |= {"description": "One\r\nTwo", "inputs-1-allowed_text": "1\r\n2", "inputs-1-description": "\r\n  "}
    answer = send(dora, change_url(endpoint), data)
    assert answer.status_code == 302, errors(answer)
    assert Endpoint.objects.get(pk=endpoint.pk).description == "One\nTwo"
    phone = Input.objects.get(pk=data["inputs-1-id"])
    assert (phone.allowed, phone.description) == (["1", "2"], "")


def test_a_refused_save_makes_no_version(dora: Client) -> None:
    record_outside()
    before = Version.objects.count()
    data = filled(page(dora, change_url(_accounts_endpoint()))) | {"inputs-0-name": "phone"}
    refused = send(dora, change_url(_accounts_endpoint()), data)
    assert refused.status_code == 200
    assert "Two rows have “phone”. Change or remove one." in errors(refused)
    shown = refused.content.decode()
    assert shown.count("Two rows have “phone”. Change or remove one.") == 1
    # The badge says why the endpoint is blocked.
    assert shown.count("Two inputs are called “phone”. Rename one of them.") == 1
    assert Version.objects.count() == before


def test_what_came_past_the_studio_is_a_version_of_its_own(dora: Client) -> None:
    record_outside()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE designer_endpoint SET title = 'Raw' WHERE kind = 'create'")
    _save(dora, Role.objects.get(name="support"), title="Helpers")
    studio, outside = Version.objects.all()[:2]
    assert (studio.origin, [change.collection for change in studio.changes.all()]) == ("studio", ["roles"])
    assert outside.origin == "outside"
    assert {change.key for change in outside.changes.all()} >= {"sales.accounts.create", "sales.leads.create"}


def test_deleting_and_adding_are_versions_too(dora: Client) -> None:
    new = filled(page(dora, add_url("role"))) | {"name": "guest"}
    assert send(dora, add_url("role"), new).status_code == 302
    assert Version.objects.all()[0].changes.get().before is None
    guest = Role.objects.get(name="guest")
    dora.post(reverse("admin:designer_role_delete", args=[guest.pk]), {"post": "yes"})
    assert Version.objects.all()[0].changes.get().after is None


def test_an_import_by_command_is_a_version(dora: Client) -> None:
    Role.objects.create(name="left-over")
    record_outside()
    call_command("importconfig", str(CONFIGURATION), "--delete", "context", stdout=io.StringIO())
    version = Version.objects.all()[0]
    assert (version.origin, version.changes.get().key) == ("command", "left-over")


def test_one_click_brings_an_endpoint_back_and_it_is_served_so_at_once(dora: Client, rita: Caller) -> None:
    _save(dora, _accounts_endpoint(), **{"inputs-1-required": "on"})
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 400
    change = Version.objects.all()[0].changes.get()
    answer = _restore(dora, change.version, change=change.pk, to="before")
    assert f"went back to before version {change.version_id}." in answer.content.decode()
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    assert Version.objects.all()[0].origin == "restore"


def test_the_whole_configuration_comes_back_byte_for_byte(dora: Client) -> None:
    record_outside()
    start, before = Version.objects.all()[0], to_bytes(export(load()))
    _save(dora, _accounts_endpoint(), title="Other")
    _save(dora, Role.objects.get(name="support"), title="Helpers")
    Role.objects.create(name="left-over")
    UserProperty.objects.filter(name="email").update(position=99)
    Input.objects.filter(name="phone").delete()
    assert "~ role support" in _text(dora, start)
    _restore(dora, start)
    assert to_bytes(export(load())).decode() == before.decode()


def test_going_back_to_an_earlier_property_moves_no_property(dora: Client) -> None:
    record_outside()
    start, before = Version.objects.all()[0], to_bytes(export(load()))
    assert UserProperty.objects.count() > 2
    _save(dora, UserProperty.objects.order_by("position")[0], description="Other")
    plan = page(dora, reverse("studio:version", args=[start.pk])).context["plan"]
    assert [line.split(":")[0].strip() for line in plan] == ["~ user property id", "description"]
    _restore(dora, start)
    assert to_bytes(export(load())) == before


def test_the_order_of_properties_is_not_restored_by_itself(dora: Client) -> None:
    record_outside()
    UserProperty.objects.filter(name="email").update(position=99)
    record_outside()
    change = Version.objects.all()[0].changes.get(collection="order")
    assert _restore(dora, change.version, change=change.pk, to="before").status_code == 404


def test_a_version_that_would_take_down_what_is_served_is_not_restored(dora: Client) -> None:
    record_outside()
    start = Version.objects.all()[0]
    new = filled(page(dora, add_url("userproperty"))) | {"name": "mail", "attribute": "internalemailaddress"}
    assert send(dora, add_url("userproperty"), new).status_code == 302
    change = Version.objects.all()[0].changes.get(collection="user_properties")
    _accounts_endpoint().bindings.create(attribute="emailaddress1", source="user", value="mail")
    before = to_bytes(export(load()))
    answer = _restore(dora, change.version, change=change.pk, to="before")
    assert "sales.accounts.create could no longer be served" in answer.content.decode()
    assert to_bytes(export(load())) == before
    _restore(dora, start)
    assert not UserProperty.objects.filter(name="mail").exists()


def test_the_history_of_a_row_leads_to_its_own_versions(dora: Client) -> None:
    row = _accounts_endpoint()
    _save(dora, row, title="First")
    _save(dora, Role.objects.get(name="support"), title="Helpers")
    answer = dora.get(reverse("admin:designer_endpoint_history", args=[row.pk]))
    assert answer["Location"] == versions_of("endpoints", "sales.accounts.create")
    text = page(dora, answer["Location"]).content.decode()
    assert "“First”" in text
    assert "role support" not in text


def test_an_endpoint_that_cannot_be_read_keeps_its_last_version(dora: Client) -> None:
    record_outside()
    Endpoint.objects.filter(kind="local-option-set").update(settings={"odd": 1})
    _save(dora, Role.objects.get(name="support"), title="Helpers")
    assert {change.collection for change in Version.objects.all()[0].changes.all()} == {"roles"}
    assert "cannot be exported" in _text(dora, Version.objects.all()[0])


@pytest.mark.parametrize("change", ["x", "²", "999999", "1; DROP"])
def test_a_restore_of_what_is_no_change_is_not_found(dora: Client, change: str) -> None:
    _save(dora, _accounts_endpoint(), title="First")
    version = Version.objects.all()[0]
    answer = dora.post(reverse("studio:restore_version", args=[version.pk]), {"change": change})
    assert answer.status_code == 404


def test_a_fraction_that_changes_is_told_with_its_digits(portico: None) -> None:
    row = Input.objects.get(name="revenue", endpoint__kind="create")
    for value in (Decimal("0.195"), Decimal("0.2")):
        with recording(Author("ada")):
            Input.objects.filter(pk=row.pk).update(default=value)
    (change,) = Version.objects.latest("id").changes.all()
    assert "0.195 → 0.2" in "".join(line.text for line in read_changes([change])[0].lines)
