"""The studio's main path by keyboard alone, with a mark at whatever has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.keyboard import signed_in
from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


def test_from_login_to_an_answer_without_a_mouse(site: Site, page: Page) -> None:
    keys = signed_in(site.start(), page)

    keys.go_to("Add to Entities")
    keys.follow()
    assert keys.focused().startswith("Module")
    keys.choose("Sales")
    keys.go_to("Entity")
    keys.press("Enter")
    keys.type("contact")
    keys.press("Enter")
    keys.go_to("Segment")
    keys.type("people")
    keys.follow()

    keys.find("All endpoints")
    keys.go_to("Add to All endpoints")
    keys.follow()
    assert keys.focused().startswith("Kind")
    keys.choose("Create")
    keys.go_to("Entity")
    keys.choose("sales/people")
    keys.go_to("Save")
    keys.follow()

    keys.skip()
    keys.go_to("Enabled")
    keys.press("Space")
    keys.go_to("Add from attributes")
    keys.press("Enter")
    keys.type("firstname")
    keys.go_to("First Name")
    keys.press("Space")
    keys.go_to("Add")
    keys.press("Enter")
    keys.go_to("Save")
    keys.follow()

    keys.find("people")
    keys.skip()
    keys.go_to("Why")
    keys.go_to("Preview")
    keys.press("ArrowRight")
    assert keys.focused() == "Try it"
    page.get_by_label("lastName").wait_for()
    keys.go_to("lastName")
    keys.type("Keys")
    keys.go_to("Dry run")
    keys.press("Enter")
    page.get_by_text("A dry run: everything was checked").wait_for()
    assert keys.unseen == []


def test_the_account_menu_opens_chooses_and_closes_by_keyboard(site: Site, page: Page) -> None:
    keys = signed_in(site.start(), page)
    keys.go_to("Account:")
    keys.press("Enter")
    page.get_by_role("button", name="Dark").wait_for()
    keys.go_to("Dark")
    keys.press("Enter")
    assert page.locator("html.dark").count() == 1
    keys.press("Escape")
    assert keys.focused().startswith("Account:")
    page.get_by_role("button", name="Dark").wait_for(state="hidden")
    assert keys.unseen == []
