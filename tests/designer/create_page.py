"""The studio's page of the demo's create, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser import sign_in
from tests.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page


def open_create(server: Server, page: Page) -> Page:
    """`page`, logged in as designer and at that of POST /api/sales/accounts."""
    sign_in(page, server.url, "/admin/designer/endpoint/")
    page.get_by_text("POST /api/sales/accounts", exact=True).click()
    page.locator("#section-inputs").wait_for()
    # Until its scripts have run, what somebody presses does nothing.
    page.wait_for_load_state()
    return page
