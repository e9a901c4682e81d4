"""Saving what breaks callers: it is asked about, for their calls would fail at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from designer.models import Endpoint, EndpointCalls
from tests.callers import Caller
from tests.designer.studio import change_url, errors, filled, page, send

PATH = "/api/sales/accounts"
ASKED = f"this change breaks callers of POST {PATH} (7 calls in the last 35 days): "


@pytest.fixture
def create(portico: None) -> Endpoint:
    """The create of accounts, which has been called."""
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    EndpointCalls.objects.create(endpoint="sales.accounts.create", hour=hour, calls=7, last_at=now)
    made: Endpoint = Endpoint.objects.get(
        kind="create", entity__segment="accounts", entity__module__segment="sales"
    )
    return made


def _row(data: dict[str, Any], name: str) -> str:
    """The fields of an input begin so."""
    return next(key for key, value in data.items() if key.endswith("-name") and value == name)[: -len("name")]


def _required(data: dict[str, Any]) -> dict[str, Any]:
    return {f"{_row(data, 'phone')}required": "on"}


def _removed(data: dict[str, Any]) -> dict[str, Any]:
    bound = next(key for key, value in data.items() if key.endswith("-value_text") and value == "phone")
    return {
        f"{_row(data, 'phone')}DELETE": "on",
        f"{bound.removesuffix('value_text')}DELETE": "on",
    }


def _switched_off(data: dict[str, Any]) -> dict[str, Any]:
    return {"enabled": None}


def _changed(dora: Client, row: Endpoint, change: Any) -> dict[str, Any]:
    data = filled(page(dora, change_url(row)))
    return {name: value for name, value in (data | change(data)).items() if value is not None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_required, "input “phone”: became required"),
        (_removed, "input “phone” removed"),
        (_switched_off, "switched off"),
    ],
)
def test_what_callers_would_notice_is_asked_about(
    dora: Client, rita: Caller, create: Endpoint, change: Any, words: str
) -> None:
    data = _changed(dora, create, change)
    refused = send(dora, change_url(create), data)
    (asked,) = [text for text in errors(refused) if ASKED in text]
    assert words in asked
    assert 'name="_breaks" value="1">' in refused.content.decode()
    assert rita.post(PATH, {"name": "A"}).status_code == 200
    assert send(dora, change_url(create), data | {"_breaks": "1"}).status_code == 302
    assert rita.post(PATH, {"name": "A", "phone": "1"}).status_code == (
        200 if change is _required else 400 if change is _removed else 404
    )


def test_an_answer_is_kept_until_the_page_is_saved(dora: Client, create: Endpoint) -> None:
    data = _changed(dora, create, _required) | {"segment": "renamed", "_breaks": "1"}
    refused = send(dora, change_url(create), data)
    assert any("another address" in text for text in errors(refused))
    text = refused.content.decode()
    assert 'name="_breaks" value="1" checked>' in text
    assert 'name="_moves" value="1">' in text
    assert send(dora, change_url(create), data | {"_moves": "1"}).status_code == 302


def test_what_nobody_would_notice_asks_nothing(dora: Client, create: Endpoint) -> None:
    """Of what adds, of a draft, and of what nobody has called."""
    more = _changed(dora, create, lambda data: {"title": "Another"})
    assert send(dora, change_url(create), more).status_code == 302
    EndpointCalls.objects.all().delete()
    assert send(dora, change_url(create), _changed(dora, create, _required)).status_code == 302
    assert send(dora, change_url(create), _changed(dora, create, _switched_off)).status_code == 302
