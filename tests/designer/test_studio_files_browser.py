"""An upload, from the login to the first file. Clicks are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# docs/studio.md names this number. Choosing from a list counts two.
CLICKS = 7


def test_an_upload_is_served(site: Site, page: Page) -> None:
    server = site.start()
    clicks = 0

    def click(place: Locator) -> None:
        nonlocal clicks
        clicks += 1
        place.click()

    page.goto(server.url + "/admin/")
    page.get_by_label("Username").fill("designer")
    page.get_by_label("Password").fill("demo")
    click(page.get_by_role("button", name="Log in"))
    click(page.get_by_role("link", name="Add to accounts"))
    page.get_by_label("Kind").select_option("upload")
    clicks += 2
    page.get_by_text("POST /api/sales/accounts/{id}/files/contract").wait_for()
    click(page.get_by_label("Sales representative (sales-rep)"))
    click(page.locator("label[for=id_enabled]"))
    click(page.get_by_role("button", name="Save", exact=True))
    page.locator("[data-state]").get_by_text("Ready").wait_for()
    assert clicks == CLICKS

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
