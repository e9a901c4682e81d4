"""A role that goes and comes back: who held it holds it again, and is told of before."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.history.recording import record_outside
from designer.loading import latest
from designer.models import AuditEntry, Role, Version
from runtime.models import ApiAccount, ApiKey
from tests.callers import Caller
from tests.designer.studio import add_url, change_url, filled, page
from tests.designer.two_people import opened

UNDO = "/admin/versions/undo/"


@pytest.fixture
def guest(portico: None) -> Role:
    """A role that no endpoint asks for, with an account and a key that hold it."""
    role = Role.objects.create(name="guest")
    record_outside()
    ApiAccount.objects.get(user__username="rep").roles.add(role)
    _key().roles.add(role)
    return role


def _key() -> ApiKey:
    key, _ = ApiKey.objects.get_or_create(name="Nightly import", prefix="nightly", digest="0" * 64)
    return key


def _holders(name: str) -> set[str]:
    accounts = ApiAccount.objects.filter(roles__name=name).values_list("user__username", flat=True)
    return {*accounts, *ApiKey.objects.filter(roles__name=name).values_list("name", flat=True)}


def _undo(client: Client, version: int | None = None) -> None:
    number = version or Version.objects.latest("id").pk
    text = client.post(UNDO, {"version": number}, follow=True).content.decode()
    assert f"Version {number} undone: " in text


def _delete(client: Client, role: Role) -> None:
    client.post(reverse("admin:designer_role_delete", args=[role.pk]), {"post": "yes"})
    assert not Role.objects.filter(pk=role.pk).exists()


def _rename(client: Client, role: Role, name: str) -> None:
    answer = client.post(change_url(role), opened(client, role) | {"name": name}, follow=True)
    assert Role.objects.get(pk=role.pk).name == name, answer.content.decode()


def _add(client: Client, name: str) -> None:
    client.post(add_url("role"), filled(page(client, add_url("role"))) | {"name": name})
    assert Role.objects.filter(name=name).exists()


def _notes_of(name: str) -> list[str]:
    entries = AuditEntry.objects.filter(action=AuditEntry.Action.ACCESS, subject=f"role {name}")
    return list(entries.order_by("id").values_list("detail", flat=True))


def test_undoing_the_deletion_of_a_role_gives_it_back_to_those_who_held_it(dora: Client, guest: Role) -> None:
    _delete(dora, guest)
    _undo(dora)
    assert _holders("guest") == {"rep", "Nightly import"}
    assert _notes_of("guest") == [
        "taken, because the role is gone, from API account rep, API key Nightly import (nightly)",
        "given back to API account rep, API key Nightly import (nightly)",
    ]


def test_undoing_the_renaming_of_a_role_leaves_it_with_those_who_hold_it(dora: Client, guest: Role) -> None:
    _rename(dora, guest, "visitor")
    ApiAccount.objects.get(user__username="manager").roles.add(guest)
    ApiAccount.objects.get(user__username="rep").roles.remove(guest)
    _undo(dora)
    assert _holders("guest") == {"manager", "Nightly import"}
    _undo(dora)
    assert _holders("visitor") == {"manager", "Nightly import"}
    _undo(dora)
    assert _holders("guest") == {"manager", "Nightly import"}


def test_callers_are_let_in_again_when_all_that_was_removed_is_restored(rita: Caller, tmp_path: Path) -> None:
    assert rita.get("/api/sales/queries/pipeline").status_code == 200
    record_outside()
    full = Version.objects.latest("id").pk
    groups = ["context", *(module.segment for module in latest().modules)]
    file = tmp_path / "empty.json"
    file.write_text('{"format": 2}')
    call_command("importconfig", str(file), *(part for group in groups for part in ("--delete", group)))
    assert rita.get("/api/sales/queries/pipeline").status_code == 404
    assert _holders("sales-rep") == set()
    call_command("restoreconfig", str(full))
    assert rita.get("/api/sales/queries/pipeline").status_code == 200
    assert _holders("sales-rep") == {"rep"}


def test_a_new_role_of_the_same_name_begins_with_nobody(dora: Client, guest: Role) -> None:
    _delete(dora, guest)
    _add(dora, "guest")
    assert _holders("guest") == set()
    # Nor does it get anybody when it goes and comes back itself.
    _delete(dora, Role.objects.get(name="guest"))
    _undo(dora)
    assert _holders("guest") == set()


def test_accounts_and_keys_that_are_gone_stay_gone(dora: Client, guest: Role) -> None:
    _delete(dora, guest)
    ApiKey.objects.all().delete()
    _undo(dora)
    assert _holders("guest") == {"rep"}


def test_an_import_says_how_many_callers_lose_a_role(guest: Role, tmp_path: Path) -> None:
    document = json.loads(to_bytes(export(latest())))
    document["roles"] = [role for role in document["roles"] if role["name"] != "guest"]
    file = tmp_path / "configuration.json"
    file.write_text(json.dumps(document))
    written = StringIO()
    arguments: list[Any] = [str(file), "--delete", "context", "--dry-run"]
    call_command("importconfig", *arguments, stdout=written)
    assert "role guest: 2 API accounts and keys hold the role and lose it" in written.getvalue()
