"""The permission matrix in a real browser, with scripts and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import follow, sign_in
from tests.designer.hand import Hand
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

CELL = "POST /api/sales/accounts"


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def _click(page: Page, column: str) -> None:
    page.locator(f'button.studio-cell[aria-label^="{column}:"][aria-label$=", {CELL}"]').click()


def _status(server: Server) -> int:
    """What a caller without a token gets."""
    return server.request("POST", "/api/sales/accounts", json={"name": "A"}).status_code


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_opening_a_write_asks_and_undo_closes_it(server: Server, chromium: Browser, scripts: bool) -> None:
    context = chromium.new_context(java_script_enabled=scripts)
    page = context.new_page()
    sign_in(page, server.url, "/admin/matrix/")
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
    sign_in(page, server.url, "/admin/matrix/")
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


_FOCUSED = "document.activeElement.getAttribute('aria-label') || document.activeElement.title"


def test_cells_are_walked_by_arrows_and_a_change_comes_back_to_its_cell(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/matrix/")
    page.locator(f'button.studio-cell[aria-label^="Anonymous:"][aria-label$=", {CELL}"]').focus()
    for keys, focused in (
        (("ArrowRight", "ArrowRight"), "customer: may not call"),
        (("End",), "support: may not call"),
        (("Home", "ArrowLeft"), "Anonymous: may not call"),
        # The row rule of the entity stands above its first endpoint.
        (("ArrowUp",), "Change which records Anonymous reach of sales/accounts"),
        (("ArrowDown", "End", "ArrowLeft"), "sales-rep: may call"),
    ):
        for key in keys:
            page.keyboard.press(key)
        assert str(page.evaluate(_FOCUSED)).startswith(focused)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.get_by_text(f"Callers of {CELL} changed").wait_for()
    assert str(page.evaluate(_FOCUSED)).startswith("sales-rep: may not call")


# docs/studio.md names this number.
CLICKS = 5


def test_a_row_rule_is_written_from_its_cell(server: Server, page: Page) -> None:
    """From the login, for a role: which records it reaches. Clicks are counted."""
    hand = Hand(page)
    hand.log_in(server)
    hand.click(page.get_by_role("link", name="Permission matrix").first)
    cell = page.get_by_title("Change which records sales-rep reach of sales/accounts")
    hand.click(cell)
    page.get_by_text("Row rule of sales/accounts: sales-rep").first.wait_for()
    hand.click(page.get_by_role("button", name="Owner is the caller"))
    page.get_by_label("Operator").wait_for()
    hand.click(page.get_by_role("button", name="Save", exact=True))
    page.get_by_text("was changed successfully").wait_for()
    assert hand.clicks == CLICKS
    assert "Owner is the caller" in cell.inner_text()
    # Whoever works by keyboard goes on where they were.
    assert str(page.evaluate(_FOCUSED)) == cell.get_attribute("title")
    token = {"Authorization": f"Bearer {server.token('manager')}"}
    listed = server.request("GET", "/api/sales/queries/accounts?pageSize=1", headers=token)
    assert (listed.status_code, listed.json()["data"]) == (200, [])


def test_an_entry_that_is_added_on_the_page_of_its_entity_has_rows(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/matrix/")
    follow(page.get_by_role("link", name="sales/accounts", exact=True))
    page.get_by_text("Add row rule entry").click()
    page.get_by_role("button", name="Owner is the caller").click()
    assert "eq-userid" in page.locator("[name='row_rule-0-filter']").input_value()
