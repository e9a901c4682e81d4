"""Accounts and keys without a record, whose type has records: the studio says what they cannot find."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from designer.models import Role
from runtime.models import ApiAccount, ApiKey
from tests.callers import account
from tests.runtime.test_api_keys import studio_of

pytestmark = pytest.mark.usefixtures("portico")

PASSWORD = "a long and winding road"
SAID = "and has no record: its calls find nothing where a row rule or a query compares with “@user” values"


@pytest.fixture
def studio() -> Client:
    return studio_of("admin")


def _account(name: str, type: str = "contact", **values: Any) -> ApiAccount:
    user = get_user_model().objects.create_user(name, password=PASSWORD)
    made: ApiAccount = ApiAccount.objects.create(user=user, caller_type_id=type, **values)
    made.roles.set(Role.objects.filter(name="customer"))
    return made


def _dashboard(studio: Client) -> str:
    return studio.get("/admin/").content.decode()


def test_an_account_without_a_record_is_said_where_it_is_made_shown_and_listed(studio: Client) -> None:
    assert "has no record" not in _dashboard(studio)
    sent = {"username": "cara", "password": PASSWORD, "active": "on", "caller_type": "contact", "record": ""}
    saved = studio.post("/admin/runtime/apiaccount/add/", sent, follow=True)
    assert SAID in saved.content.decode()
    page = f"/admin/runtime/apiaccount/{ApiAccount.objects.get(user__username='cara').pk}/change/"
    assert SAID in studio.get(page).content.decode()
    said = "The API account cara of the type “contact” has no record: it finds no records of its own."
    assert said in _dashboard(studio)
    assert f'href="{page}"' in _dashboard(studio)
    _account("dan")
    _account("sam", "service")
    assert "2 API accounts of the type “contact” have no record" in _dashboard(studio)
    assert "(cara, dan)" in _dashboard(studio)
    listed = studio.get("/admin/runtime/apiaccount/?caller_type__exact=contact&record__isnull=True")
    assert [row.user.username for row in listed.context["cl"].result_list] == ["cara", "dan"]


def test_it_is_said_no_more_once_there_is_a_record_or_no_account(studio: Client) -> None:
    made = _account("cara")
    assert "has no record" in _dashboard(studio)
    get_user_model().objects.filter(username="cara").update(is_active=False)
    assert "has no record" not in _dashboard(studio)
    get_user_model().objects.filter(username="cara").update(is_active=True)
    record = ApiAccount.objects.get(user__username="customer").record
    ApiAccount.objects.filter(pk=made.pk).update(record=record)
    assert "has no record" not in _dashboard(studio)
    assert SAID not in studio.get(f"/admin/runtime/apiaccount/{made.pk}/change/").content.decode()


def test_a_key_without_a_record_is_said_too(studio: Client) -> None:
    key = ApiKey(name="Nightly", caller_type_id="user")
    key.make()
    key.save()
    assert "The API key Nightly of the type “user” has no record" in _dashboard(studio)
    assert SAID in studio.get(f"/admin/runtime/apikey/{key.pk}/change/").content.decode()
    ApiKey.objects.update(caller_type="service")
    assert "has no record" not in _dashboard(studio)


def test_who_sees_no_accounts_is_told_of_none(studio: Client) -> None:
    _account("cara")
    assert "has no record" not in _dashboard(studio_of("designer"))


def test_calls_of_such_an_account_find_nothing_and_its_context_says_why() -> None:
    _account("cara")
    caller = account("cara", PASSWORD)
    assert caller.get("/api/portal/queries/my-cases").json()["data"] == []
    context = caller.get("/api/context")
    assert (context.status_code, context.json()["code"]) == (403, "no_record")
