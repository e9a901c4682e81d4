"""What the pages say that ask before something is deleted."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from designer.models import Endpoint, Module, Role
from runtime.callers.api_accounts import ApiAccount


@pytest.fixture
def ada(portico: None) -> Client:
    """The studio, logged in as administrator."""
    client = Client()
    administrator = User.objects.get(username="admin")
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _asked(client: Client, row: Any) -> str:
    """The page that asks before `row` is deleted."""
    meta = row._meta
    answer = client.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_delete", args=[row.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_deletion_names_what_is_deleted_and_that_it_is_for_good(ada: Client) -> None:
    group = _asked(ada, Group.objects.get(name="Viewer"))
    account = _asked(ada, ApiAccount.objects.get(user__username="rep"))
    assert "Delete “Viewer” (group)?" in group
    assert "Delete “rep” (API account)?" in account
    for text in (group, account):
        assert "It cannot be undone." in text
        assert "Are you sure" not in text
        assert "This is deleted with it:" not in text


def test_what_has_versions_can_be_undone(ada: Client) -> None:
    for row in (Module.objects.create(segment="empty"), Role.objects.create(name="nobody")):
        text = _asked(ada, row)
        assert "The message that confirms the deletion offers “Undo”." in text
        assert "It cannot be undone." not in text


def test_what_belongs_to_it_is_named(ada: Client) -> None:
    text = _asked(ada, Endpoint.objects.get(kind="create", entity__segment="accounts"))
    assert "This is deleted with it:" in text
    assert "Input: name" in text
    assert text.count("The message that confirms the deletion offers “Undo”.") == 1


def test_several_are_named_before_they_are_deleted(ada: Client) -> None:
    groups = Group.objects.filter(name__in=["Viewer", "Designer"])
    selected = {"action": "delete_selected", "_selected_action": [group.pk for group in groups]}
    text = ada.post(reverse("admin:auth_group_changelist"), selected).content.decode()
    assert "Delete all of these?" in text
    assert "It cannot be undone." in text
    ada.post(reverse("admin:auth_group_changelist"), {**selected, "post": "yes"})
    assert not groups.all().exists()


def test_the_question_is_asked_in_the_readers_language(ada: Client) -> None:
    ada.cookies["django_language"] = "de"
    text = _asked(ada, Group.objects.get(name="Viewer"))
    assert "„Viewer“ (Gruppe) löschen?" in text
    assert "Abbrechen" in text
    assert "Cancel" not in text
