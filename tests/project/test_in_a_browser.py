from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from project.demo import CONFIGURATION
from tests.browser import sign_in
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the browser objects to: refused scripts and styles, missing files, errors of scripts."""
    objections: list[str] = []
    page.on("console", lambda message: objections.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: objections.append(str(error)))
    return objections


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


@pytest.fixture
def studio(server: Server, page: Page) -> Page:
    """The studio's front page, logged in as designer."""
    sign_in(page, server.url)
    page.get_by_text("All endpoints").wait_for()
    return page


def test_pages_and_studio_work_under_the_policies_they_are_sent_with(
    server: Server, complaints: list[str], studio: Page
) -> None:
    studio.get_by_text("All endpoints").click()
    studio.get_by_text("/api/sales/accounts").first.click()
    studio.get_by_text("Callers can use it now.").wait_for()
    studio.goto(server.url)
    studio.get_by_role("link", name="Open the API docs").click()
    studio.get_by_text("Send the contact form").wait_for()
    assert complaints == []


def test_a_chosen_file_changes_nothing_else_on_its_page(
    server: Server, complaints: list[str], studio: Page
) -> None:
    studio.goto(server.url + "/admin/import/")
    studio.get_by_label("Document").set_input_files(CONFIGURATION)
    assert studio.locator(f"input[value*='{CONFIGURATION.name}']").count() == 0
    studio.get_by_role("button", name="Show the plan").click()
    studio.get_by_text("Nothing to change.").wait_for()
    assert complaints == []


def test_an_input_added_in_the_studio_is_taken_by_the_next_call(server: Server, studio: Page) -> None:
    token = server.token("rep")

    def call() -> int:
        body = {"name": "Fabrikam", "website": "https://fabrikam.example"}
        headers = {"Authorization": f"Bearer {token}"}
        return server.request("POST", "/api/sales/accounts", json=body, headers=headers).status_code

    assert call() == 400
    studio.get_by_text("All endpoints").click()
    studio.get_by_text("POST /api/sales/accounts", exact=True).click()
    studio.get_by_role("button", name="Add input").click()
    studio.locator("[data-row^=inputs-]").last.locator("[name$=-name]").fill("website")
    studio.get_by_role("button", name="Add entity property").click()
    added = studio.locator("[data-row^=bindings-]").last
    added.locator("[id$=-attribute_search]").fill("websiteurl")
    studio.keyboard.press("Enter")
    added.locator("[id$=-value_text_editor]").select_option("website")
    studio.get_by_role("button", name="Save", exact=True).click()
    studio.get_by_text("was changed successfully").wait_for()
    assert call() == 200
