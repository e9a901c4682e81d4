"""Forms that two people send at once, or one person twice: the second finds taken what both found free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.db.models.signals import pre_save
from django.test import Client
from django.urls import reverse

from designer.models import Release
from tests.designer.proposing import member
from tests.designer.studio import page


@contextmanager
def _somebody_is_faster(model: type[Model], **values: Any) -> Iterator[list[int]]:
    """The moment between the check of a form and its write, in which somebody else writes the same."""
    seen: list[int] = []

    def write(sender: type[Model], instance: Model, **_: Any) -> None:
        if not seen:
            seen.append(1)
            sender._default_manager.bulk_create([sender(**values)])

    pre_save.connect(write, sender=model)
    yield seen
    pre_save.disconnect(write, sender=model)


@pytest.mark.usefixtures("portico")
def test_a_release_with_a_number_that_is_taken_at_this_moment_fails_nothing() -> None:
    paul = member("paul", "Publisher")
    data = {"major": "1", "minor": "0", "name": "Mine", "changelog": ""}
    with _somebody_is_faster(Release, major=1, minor=0, document="{}") as seen:
        answer = paul.post(reverse("studio:new_release"), data)
    assert seen
    assert answer.status_code == 302
    again = paul.post(reverse("studio:new_release"), data)
    assert (
        again.status_code == 422 or "There is a release with this number already." in again.content.decode()
    )
    assert Release.objects.count() == 1


@pytest.mark.usefixtures("portico")
def test_an_account_with_a_name_that_is_taken_at_this_moment_fails_nothing() -> None:
    ada = member("ada", "Administrator")
    typed = "Something-long-4-all"
    data = {"username": "nora", "password1": typed, "password2": typed, "usable_password": "true"}
    with _somebody_is_faster(User, username="nora") as seen:
        answer = ada.post(reverse("admin:auth_user_add"), data)
    assert seen
    assert answer.status_code == 302, answer.content.decode()
    assert User.objects.filter(username="nora").count() == 1


def test_every_form_of_the_admin_asks_before_it_is_left_unsaved(portico: None, ada: Client) -> None:
    for name in ("role", "module", "exposedentity", "endpoint", "optionset", "userproperty", "issuer"):
        shown = page(ada, reverse(f"admin:designer_{name}_add"))
        assert "warn-unsaved-form" in shown.content.decode(), name
    for name in ("new_proposal", "new_query"):
        assert "warn-unsaved-form" in page(ada, reverse(f"studio:{name}")).content.decode(), name


@pytest.fixture
def ada(portico: None) -> Client:
    return member("ada", "Administrator")
