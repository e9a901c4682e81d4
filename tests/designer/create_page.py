"""The studio's page of the demo's create, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page


def open_create(server: Server, page: Page) -> Page:
    """`page`, logged in as designer and at that of POST /api/sales/accounts."""
    page.goto(server.url + "/admin/designer/endpoint/")
    page.get_by_label("Username").fill("designer")
    page.get_by_label("Password").fill("demo")
    page.keyboard.press("Enter")
    page.get_by_text("POST /api/sales/accounts", exact=True).click()
    page.locator("#section-inputs").wait_for()
    return page
