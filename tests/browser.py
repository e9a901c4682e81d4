"""A real Chromium, for what only a browser can tell."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

# The headless shell is the same engine without a browser's own windows: the others draw these as well, which
# takes more of the processor than the pages do.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Milliseconds: only what never comes is a failure.
PATIENCE = 180_000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        # Playwright's event loop counts as running until it ends, also for tests of the module that follow
        # and ask the database: Django would refuse these.
        patch.setattr("django.utils.asyncio.get_running_loop", _no_loop)
        # Containers have neither the sandbox's rights nor a large /dev/shm.
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


def _no_loop() -> None:
    raise RuntimeError("no running event loop")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1360, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def sign_in(page: Page, url: str, path: str = "/admin/", account: str = "designer") -> None:
    """Log in with the demo's `account`: the studio's `path` is open then, and its scripts have run."""
    page.goto(url + path)
    fill_login(page, account)


def fill_login(page: Page, account: str = "designer") -> None:
    """Log in at the form that `page` shows. What follows it is open then, and its scripts have run."""
    page.get_by_label("Username").fill(account)
    page.get_by_label("Password").fill("demo")
    # A heading that one waits for stands there before the page's scripts answer keys.
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("Enter")


def follow(link: Locator) -> None:
    """Click a link. What it leads to is open then, and its scripts have run."""
    with link.page.expect_navigation(wait_until="load"):
        link.click()
