"""What judges the studio: a new user exposes contacts, tries them, calls them. Clicks are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.hand import Hand
from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# docs/studio.md names this number. Choosing from a list counts two.
CLICKS = 9


def test_from_login_to_the_first_200(site: Site, page: Page) -> None:
    server, hand = site.start(), Hand(page)
    hand.log_in(server)
    hand.click(page.get_by_role("link", name="Expose an entity").first)
    hand.choose(page.get_by_role("combobox"), "contact")
    hand.click(page.get_by_label("Sales representative (sales-rep)"))
    hand.click(page.get_by_role("button", name="Expose", exact=True))
    hand.click(page.get_by_role("link", name="POST /api/sales/contacts", exact=True))
    hand.click(page.get_by_role("tab", name="Try it"))
    page.get_by_label("lastName *").fill("First")
    hand.click(page.get_by_role("button", name="Call for real"))
    assert page.locator("[data-status]").inner_text() == "200"
    assert hand.clicks == CLICKS

    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    created = server.request("POST", "/api/sales/contacts", json={"lastName": "Curled"}, headers=headers)
    assert created.status_code == 200
    path = f"/api/sales/contacts/{created.json()['id']}"
    assert server.request("GET", path, headers=headers).json()["lastName"] == "Curled"
    listed = server.request("GET", "/api/sales/queries/contacts?pageSize=2", headers=headers)
    assert listed.json()["count"] == 2
