"""The permission matrix in a real browser, with scripts and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

CELL = "POST /api/sales/accounts"


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def _log_in(server: Server, page: Page) -> None:
    page.goto(server.url + "/admin/matrix/")
    page.get_by_label("Username").fill("designer")
    page.get_by_label("Password").fill("demo")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Permission matrix").first.wait_for()


def _click(page: Page, column: str) -> None:
    page.locator(f'button.studio-cell[aria-label^="{column}:"][aria-label$=", {CELL}"]').click()


def _status(server: Server) -> int:
    """What a caller without a token gets."""
    return server.request("POST", "/api/sales/accounts", json={"name": "A"}).status_code


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_opening_a_write_asks_and_undo_closes_it(server: Server, chromium: Browser, scripts: bool) -> None:
    context = chromium.new_context(java_script_enabled=scripts)
    page = context.new_page()
    _log_in(server, page)
    _click(page, "Anonymous")
    page.get_by_role("heading", name="Let more callers in?").first.wait_for()
    page.get_by_text("sales-manager, sales-rep", exact=True).wait_for()
    page.get_by_text("anyone, even without a token", exact=True).wait_for()
    assert _status(server) == 401
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("heading", name="Permission matrix").first.wait_for()
    _click(page, "Anonymous")
    page.get_by_role("button", name="Let them in").click()
    page.get_by_text(f"Callers of {CELL} changed from “sales-manager, sales-rep”").wait_for()
    assert _status(server) == 200
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("to “sales-manager, sales-rep”").wait_for()
    assert _status(server) == 401
    context.close()


def test_a_second_click_restores_what_was_before(server: Server, page: Page) -> None:
    _log_in(server, page)
    _click(page, "Anonymous")
    page.get_by_role("button", name="Let them in").click()
    page.get_by_text("to “anyone, even without a token”").wait_for()
    _click(page, "Anonymous")
    page.get_by_text("to “sales-manager, sales-rep”").wait_for()
    assert _status(server) == 401
    token = server.token("agent")
    headers = {"Authorization": f"Bearer {token}"}
    refused = server.request("POST", "/api/sales/accounts", json={"name": "A"}, headers=headers)
    assert refused.status_code == 403
