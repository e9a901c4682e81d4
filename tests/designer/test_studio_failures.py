"""What is shown instead of a page: in the reader's language, with a way on, and nothing for developers."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

GERMAN = {"Accept-Language": "de"}


@pytest.fixture
def viewer(portico: None) -> Client:
    account = User.objects.create_user("a-viewer", password="a good password", is_staff=True)
    account.groups.add(Group.objects.get(name="Viewer"))
    client = Client(enforce_csrf_checks=True)
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _shown(answer: Any, status: int) -> str:
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")
    return str(answer.content.decode())


@pytest.mark.parametrize("address", ["/admin/designer/module/add/", "/admin/audit/"])
def test_what_an_account_may_not_do_is_said_within_the_studio(viewer: Client, address: str) -> None:
    shown = _shown(viewer.get(address), 403)
    assert "Not allowed" in shown
    assert 'id="nav-sidebar"' in shown
    assert "Nicht erlaubt" in _shown(viewer.get(address, headers=GERMAN), 403)


@pytest.mark.parametrize("address", ["nothing/here", "designer/endpoint/²/try"])
def test_an_address_with_nothing_behind_it_leads_to_the_dashboard(viewer: Client, address: str) -> None:
    shown = _shown(viewer.get(f"/admin/{address}/"), 404)
    assert "There is nothing here" in shown
    assert "To the dashboard" in shown


@pytest.mark.parametrize(
    "address",
    [f"/admin/{route}/" for route in ("versions", "matrix", "translations", "usage", "attributes/one")],
)
def test_an_address_with_a_nul_leads_to_nothing(viewer: Client, address: str) -> None:
    """SQLite would look for it; PostgreSQL fails."""
    for query in ("?key=%00", "?entity=account&attribute=%00", "?role=a%00", "?%00=1"):
        assert "There is nothing here" in _shown(viewer.get(address + query), 404)


def test_a_form_without_its_token_is_refused_in_words(viewer: Client) -> None:
    shown = _shown(viewer.post("/admin/two-factor/"), 403)
    assert "Nothing was changed." in shown
    assert "CSRF" not in shown


def test_a_form_of_a_login_that_has_ended_leads_to_the_login_and_back(portico: None) -> None:
    address = "/admin/designer/module/add/?name=sales"
    answer = Client(enforce_csrf_checks=True).post(address, {"name": "sales"})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/admin/login/?next=/admin/designer/module/add/%3Fname%3Dsales"


@pytest.mark.parametrize("address", ["login", "logout", "sign-in", "language"])
def test_without_cookies_the_login_says_so_and_leads_nowhere(portico: None, address: str) -> None:
    shown = _shown(Client(enforce_csrf_checks=True).post(f"/admin/{address}/", {"next": "/admin/"}), 403)
    assert "this browser takes no cookies" in shown


def test_who_is_locked_out_reads_for_how_long(portico: None, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 1
    tried = {"username": "designer", "password": "wrong", "next": "/admin/"}
    Client().post("/admin/login/", tried)
    shown = _shown(Client().post("/admin/login/", tried), 429)
    assert "Too many failed logins" in shown
    assert "15 minutes" in shown
    assert 'id="nav-sidebar"' not in shown


@pytest.mark.parametrize("address", ["versions/1/restore/", "versions/undo/", "platform/refresh/"])
def test_an_address_that_takes_only_forms_says_so(portico: None, address: str) -> None:
    administrator = Client()
    account = User.objects.get(username="admin")
    administrator.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    answer = administrator.get(f"/admin/{address}")
    shown = _shown(answer, 405)
    assert "POST" in answer.headers["Allow"]
    assert "This address only takes what a form sends." in shown
    assert 'id="nav-sidebar"' in shown
    assert "Hier gibt es keine Seite" in _shown(administrator.get(f"/admin/{address}", headers=GERMAN), 405)
