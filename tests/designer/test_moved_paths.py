"""Renaming what callers use: it is asked about, for their calls would fail at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from designer.models import Endpoint, EndpointCalls, ExposedEntity, Module
from tests.callers import Caller
from tests.designer.studio import change_url, errors, filled, page, send
from tests.runtime.accounts import an_account

QUESTION = (
    "this change gives another address to what callers use: /api/sales/accounts/{id} "
    "(7 calls in the last 35 days)"
)


@pytest.fixture
def called(portico: None) -> Endpoint:
    """The read of accounts, which has been called."""
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    EndpointCalls.objects.create(endpoint="sales.accounts.read", hour=hour, calls=7, last_at=now)
    endpoint: Endpoint = Endpoint.objects.get(kind="read", entity__segment="accounts")
    return endpoint


def _renamed(dora: Client, row: Any) -> dict[str, Any]:
    return filled(page(dora, change_url(row))) | {"segment": "renamed"}


@pytest.mark.parametrize("what", ["module", "entity", "endpoint"])
def test_a_rename_that_callers_would_notice_is_asked_about(
    dora: Client, rita: Caller, called: Endpoint, what: str
) -> None:
    row = {
        "module": Module.objects.get(segment="sales"),
        "entity": ExposedEntity.objects.get(module__segment="sales", segment="accounts"),
        "endpoint": called,
    }[what]
    path = an_account()
    refused = send(dora, change_url(row), _renamed(dora, row))
    assert any(QUESTION in text for text in errors(refused))
    text = refused.content.decode()
    assert 'name="_moves"' in text
    assert 'value="renamed"' in text
    assert rita.get(path).status_code == 200
    assert send(dora, change_url(row), _renamed(dora, row) | {"_moves": "1"}).status_code == 302
    # Of the endpoint alone: others of its path stay.
    assert rita.get(path).status_code == (405 if what == "endpoint" else 404)


def test_a_rename_that_nobody_would_notice_asks_nothing(dora: Client, called: Endpoint) -> None:
    """Of what nobody has called, of what stays where it is, and of a draft."""
    other = ExposedEntity.objects.get(module__segment="sales", segment="leads")
    assert send(dora, change_url(other), _renamed(dora, other)).status_code == 302
    data = filled(page(dora, change_url(called))) | {"title": "Another"}
    assert send(dora, change_url(called), data).status_code == 302
    Endpoint.objects.filter(pk=called.pk).update(enabled=False)
    assert send(dora, change_url(called), _renamed(dora, called)).status_code == 302
