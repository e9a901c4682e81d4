"""Two administrators who save one page of rights at once: the second one is told what has changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.models import Model
from django.db.models.signals import pre_save
from django.test import Client
from django.urls import reverse

from designer.models import CallerType, Role
from runtime.models import ApiAccount, ApiKey
from tests.designer.studio import filled, page


def _account() -> User:
    return User.objects.create_user("nora", is_staff=True)


def _group() -> Group:
    return Group.objects.create(name="Helpers")


def _api_account() -> ApiAccount:
    _service()
    user = User.objects.create_user("petra", password="a long and winding road")
    return ApiAccount.objects.create(user=user, caller_type_id="service")


def _service() -> None:
    CallerType.objects.get_or_create(name="service")


def _key() -> ApiKey:
    _service()
    key = ApiKey(name="Nightly", caller_type_id="service")
    key.make()
    key.save()
    return key


# What one of them sends, and what the other sends at the same moment; and what the row has of the latter.
_ROWS: dict[str, tuple[Any, dict[str, Any], dict[str, Any], Any]] = {
    "studio account": (
        _account,
        {"first_name": "Nora"},
        {"is_active": None},
        lambda row: row.is_active is False,
    ),
    "group": (_group, {"name": "Aides"}, {"name": "Others"}, lambda row: row.name == "Others"),
    "API account": (_api_account, {"rate": "60"}, {"active": None}, lambda row: row.user.is_active is False),
    "API key": (_key, {"rate": "60"}, {"active": None}, lambda row: row.active is False),
}


@contextmanager
def _before_it_is_written(model: type[Model], act: Any) -> Iterator[threading.Thread]:
    """Start `act` between the check of a form and its write, and go on when it is done or has to wait."""
    thread = threading.Thread(target=act)
    started: list[int] = []

    def start(sender: type[Model], instance: Model, **_: Any) -> None:
        if not started:
            started.append(1)
            thread.start()
            thread.join(timeout=2)

    pre_save.connect(start, sender=model)
    yield thread
    pre_save.disconnect(start, sender=model)
    thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", _ROWS)
def test_of_two_saves_at_once_one_is_refused_with_what_the_other_has_changed(what: str) -> None:
    make, mine, theirs, has_theirs = _ROWS[what]
    Role.objects.get_or_create(name="sales-rep")
    row = make()
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    me, other = (_administrator(name) for name in ("ada", "otto"))
    opened = page(me, address)
    form = {**filled(opened), "_shown": opened.context["shown_state"]}
    answers: dict[str, Any] = {}

    def save(client: Client, who: str, changes: dict[str, Any]) -> None:
        sent = {name: value for name, value in {**form, **changes}.items() if value is not None}
        try:
            answers[who] = client.post(address, sent)
        finally:
            if who == "other":
                connection.close()

    written = User if isinstance(row, ApiAccount) else type(row)
    with _before_it_is_written(written, lambda: save(other, "other", theirs)):
        save(me, "me", mine)

    statuses = {who: answer.status_code for who, answer in answers.items()}
    assert sorted(statuses.values()) == [200, 302], statuses
    [refused] = [answer for answer in answers.values() if answer.status_code == 200]
    assert "this was changed since you opened the page" in refused.content.decode()
    assert has_theirs(type(row).objects.get(pk=row.pk)) is (statuses["other"] == 302)


def _shut_out(nora: User) -> None:
    User.objects.filter(pk=nora.pk).update(is_active=False)


def _delete(nora: User) -> None:
    nora.delete()


@pytest.mark.django_db
@pytest.mark.parametrize("act", [_shut_out, _delete])
@pytest.mark.parametrize("whose", ["own", "somebody else's"])
def test_a_password_brings_nobody_back_who_is_shut_out_meanwhile(
    whose: str, act: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashing takes as long as an administrator needs to save a page."""
    nora = User.objects.create_user("nora", password="the one before", is_staff=True)
    own = whose == "own"
    client = _administrator("ada")
    if own:
        client.force_login(nora, backend="django.contrib.auth.backends.ModelBackend")
    new = "a long and winding road"
    data = {"old_password": "the one before", "new_password1": new, "new_password2": new}
    if not own:
        data = {"usable_password": "true", "password1": new, "password2": new}
    hash_it = User.set_password

    def hash_meanwhile(user: User, raw: str) -> None:
        act(User.objects.get(pk=nora.pk))
        hash_it(user, raw)

    monkeypatch.setattr(User, "set_password", hash_meanwhile)
    address = (
        reverse("studio:own_password") if own else reverse("admin:auth_user_password_change", args=[nora.pk])
    )
    client.post(address, data)

    assert not User.objects.filter(pk=nora.pk, is_active=True).exists()


def _administrator(name: str) -> Client:
    client = Client()
    user = User.objects.create_superuser(name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client
