"""The hand of a new user in the studio: what it clicks is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Server


class Hand:
    """Clicks, and counts them. Choosing from a list counts two."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def log_in(self, server: Server) -> None:
        self.page.goto(server.url + "/admin/")
        self.page.get_by_label("Username").fill("designer")
        self.page.get_by_label("Password").fill("demo")
        with self.page.expect_navigation(wait_until="load"):
            self.click(self.page.get_by_role("button", name="Log in"))

    def click(self, place: Locator) -> None:
        self.clicks += 1
        place.click()

    def choose(self, place: Locator, words: str) -> None:
        """Choose from a list that is searched by typing."""
        self.clicks += 2
        place.focus()
        self.page.keyboard.type(words)
        self.page.keyboard.press("Enter")

    def select(self, place: Locator, value: str) -> None:
        """Choose from a browser's own list."""
        self.clicks += 2
        place.select_option(value)
