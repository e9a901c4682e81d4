"""Numbers in addresses and forms of the studio: a text of thousands of digits names no row."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from designer.models import AuditEntry, Endpoint
from tests.designer.studio import add_url, change_url, filled, page
from tests.designer.test_studio_issuers import member

# `int` takes at most 4300.
DIGITS = "9" * 5000


@pytest.fixture
def root(portico: None) -> Client:
    return member("Administrator")


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("studio:undo", {"version": DIGITS}),
        ("studio:undo", {"change": DIGITS}),
        ("studio:matrix", {"cell": f"{DIGITS}:authenticated"}),
        ("studio:matrix", {"undo": DIGITS}),
        ("studio:accept_metadata", {"endpoint": DIGITS}),
    ],
)
def test_a_row_of_thousands_of_digits_is_not_found(root: Client, name: str, sent: dict[str, str]) -> None:
    assert root.post(reverse(name), sent).status_code == 404


def test_the_metadata_of_an_unknown_endpoint_is_not_accepted_for_all(root: Client) -> None:
    assert root.post(reverse("studio:accept_metadata"), {"endpoint": "accounts"}).status_code == 404
    assert not AuditEntry.objects.filter(action=AuditEntry.Action.ACCEPT).exists()


@pytest.mark.parametrize("address", ["try/", "change/"])
def test_pages_of_an_endpoint_of_thousands_of_digits_do_not_fail(root: Client, address: str) -> None:
    answer = root.get(f"/admin/designer/endpoint/{DIGITS}/{address}", follow=True)
    assert answer.status_code in (200, 404)


def test_a_form_for_an_entity_of_thousands_of_digits_asks_for_the_entity(root: Client) -> None:
    page(root, f"{add_url('endpoint')}?kind=create&entity={DIGITS}")


def test_a_caller_of_thousands_of_digits_is_the_first_of_the_record(root: Client) -> None:
    sent = {"caller_type": "user", "user": RITA_REP, "as": DIGITS}
    answer = root.post(reverse("studio:caller_rights"), sent)
    assert answer.context["caller"] == answer.context["callers"][0]


@pytest.mark.parametrize("name", ["inputs-TOTAL_FORMS", "inputs-0-position"])
def test_a_page_with_a_count_of_thousands_of_digits_is_not_saved(root: Client, name: str) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    url = change_url(row)
    data = filled(page(root, url)) | {"title": "Another", name: DIGITS}
    root.post(url, data)
    row.refresh_from_db()
    assert row.title != "Another"
