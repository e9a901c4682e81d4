"""Two people on one page in a real browser: questions are answered on the page, and the next save counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import follow, sign_in
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def _log_in(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?q=accounts&kind=create")
    follow(page.get_by_role("link", name="POST /api/sales/accounts", exact=True).first)


def _save(page: Page) -> None:
    page.get_by_role("button", name="Save and continue editing").click()


def test_only_what_both_have_changed_is_asked_and_undo_takes_the_answer_back(
    server: Server, page: Page
) -> None:
    _log_in(server, page)
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("[name=title]").fill("Theirs")
    other.locator("[name=inputs-1-description]").evaluate("field => (field.value = 'Said by them')")
    _save(other)
    other.get_by_text("was changed successfully").wait_for()

    page.locator("[name=title]").fill("Mine")
    page.locator("[name=description]").fill("Typed by me")
    _save(page)
    question = page.get_by_role("region", name="Somebody else changed this page")
    question.get_by_text("Input “phone” › Description").wait_for()
    assert question.get_by_role("group").count() == 1
    assert page.locator("[name=title]").input_value() == "Mine"
    assert page.locator("[name=description]").input_value() == "Typed by me"
    question.get_by_role("group", name="Title").get_by_role("radio", name="Theirs").check()
    _save(page)
    page.get_by_text("was changed successfully").wait_for()
    assert page.locator("[name=title]").input_value() == "Theirs"
    assert page.locator("[name=description]").input_value() == "Typed by me"
    assert page.locator("[name=inputs-1-description]").input_value() == "Said by them"

    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_text("undone: endpoint sales.accounts.create").wait_for()
    assert page.locator("[name=description]").input_value() != "Typed by me"
    assert page.locator("[name=inputs-1-description]").input_value() == "Said by them"
