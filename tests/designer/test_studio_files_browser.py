"""An upload, from the login to the first file. Clicks are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.hand import Hand
from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# docs/studio.md names this number. Choosing from a list counts two.
CLICKS = 6


def test_an_upload_is_served(site: Site, page: Page) -> None:
    server, hand = site.start(), Hand(page)
    hand.log_in(server)
    hand.click(page.get_by_role("link", name="Add to accounts"))
    hand.select(page.get_by_label("Kind"), "upload")
    page.get_by_text("POST /api/sales/accounts/{id}/files/contract").wait_for()
    hand.click(page.get_by_label("Sales representative (sales-rep)"))
    hand.click(page.get_by_role("button", name="Save", exact=True))
    page.locator("[data-state]").get_by_text("Ready").wait_for()
    assert hand.clicks == CLICKS

    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    account = server.request("POST", "/api/sales/accounts", json={"name": "Contoso"}, headers=headers)
    path = page.locator("[data-path]").inner_text().removeprefix("POST ")
    sent = server.request(
        "POST",
        path.replace("{id}", account.json()["id"]),
        files={"file": ("a.pdf", b"%PDF-1.7")},
        headers=headers,
    )
    assert sent.status_code == 200, sent.text
