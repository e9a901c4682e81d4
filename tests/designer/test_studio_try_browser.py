"""“Try it” in a real browser: the form asks for a record that fits the chosen caller type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.create_page import open_create
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def test_the_caller_type_says_which_record_is_asked_for(server: Server, page: Page) -> None:
    open_create(server, page)
    place = page.url
    page.locator("input[name=caller_types][value=contact]").check()
    page.locator("[name=_continue]").first.click()
    # Contacts could not write before.
    page.get_by_label("Let them in").check()
    page.locator("[name=_continue]").first.click()
    page.goto(place.replace("/change/", "/try/"))
    record, types = page.locator("[name=caller_record]"), page.locator("[name=caller_type]")
    user = page.locator(".studio-field", has=page.locator("[name=user]"))
    record.wait_for(state="hidden")
    types.select_option("contact")
    record.wait_for(state="visible")
    user.wait_for(state="hidden")
    types.select_option("user")
    record.wait_for(state="hidden")
    user.wait_for(state="visible")
