from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the browser objects to: refused scripts and styles, missing files, errors of scripts."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def test_the_pages_work_under_the_policies_they_are_sent_with(
    site: Site, page: Page, complaints: list[str]
) -> None:
    server = site.start()
    page.goto(server.url)
    page.get_by_role("link", name="Open the API docs").click()
    page.get_by_text("/api/sales/accounts").first.wait_for()
    page.goto(server.url + "/admin/")
    page.get_by_label("Username").fill("designer")
    page.get_by_label("Password").fill("demo")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(server.url + "/admin/")
    page.get_by_role("link", name="Endpoints").first.click()
    page.get_by_text("/api/sales/accounts").first.wait_for()
    assert complaints == []
