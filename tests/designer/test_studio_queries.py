"""What every page of the studio asks of the database: little, and no more with more endpoints."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from designer.history.recording import record_outside
from tests.designer.counting import queries
from tests.designer.pages import pages
from tests.designer.rows import endpoint

# Measured, with room for one or two: of most pages, and of those that show or would delete much.
MOST = 15
MOST_OF = {
    "an endpoint": 41,
    "admin:auth_user_delete": 17,
    "admin:designer_endpoint_change": 37,
    "admin:designer_endpoint_delete": 21,
    "admin:designer_endpoint_try": 19,
    "admin:designer_exposedentity_change": 20,
    "admin:designer_exposedentity_delete": 17,
    "admin:designer_exposedentity_row_rule": 21,
    "admin:designer_optionset_change": 25,
    "admin:designer_optionset_delete": 18,
    "admin:designer_optionset_try": 17,
    "admin:designer_role_delete": 25,
    "admin:designer_userproperty_add": 17,
    "admin:designer_userproperty_change": 23,
    # Of an endpoint with inputs and pre-conditions.
    "studio:translations_of": 17,
    "studio:version": 17,
}


@pytest.fixture
def admin(portico: None) -> Client:
    client = Client()
    account = get_user_model().objects.get(username="admin")
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_pages_ask_little_and_no_more_of_a_larger_configuration(admin: Client) -> None:
    def ask(path: str) -> tuple[int, str, str]:
        answer = admin.get(path)
        return answer.status_code, answer.headers.get("Content-Type", ""), answer.content.decode()

    record_outside()
    addresses = pages(ask)
    before = {name: queries(admin, path) for name, path in addresses.items()}
    for at in range(8):
        endpoint(f"many-{at}")
    record_outside()
    after = {name: queries(admin, path) for name, path in addresses.items()}
    assert {name: (before[name], now) for name, now in after.items() if now > before[name] + 1} == {}
    assert {name: count for name, count in before.items() if count > _most(name)} == {}


def _most(name: str) -> int:
    return MOST_OF.get("an endpoint" if name.startswith("an endpoint:") else name, MOST)
