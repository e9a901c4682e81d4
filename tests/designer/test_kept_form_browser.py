"""A login that ends while somebody types, in a browser: what was typed is offered to the same account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import fill_login, follow, sign_in
from tests.servers import Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]
_OFFER = "What you typed was not saved"


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("kept") / "data", "kept_form") as site:
        yield site.start()


def _open(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?q=accounts&kind=create")
    follow(page.get_by_role("link", name="POST /api/sales/accounts", exact=True).first)


def _type_and_lose_the_login(page: Page, title: str) -> None:
    page.locator("[name=title]").fill(title)
    page.locator("[name=description]").fill("First line\nsecond line")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_label("Username").wait_for()


def test_a_form_is_sent_again_after_a_login_that_had_ended(server: Server, page: Page) -> None:
    _open(server, page)
    _type_and_lose_the_login(page, "Typed before")
    fill_login(page)
    page.get_by_text(_OFFER).wait_for()
    page.get_by_role("button", name="Send the form now").click()
    page.get_by_text("was changed successfully").wait_for()
    assert page.locator("[name=title]").input_value() == "Typed before"
    description = page.locator("[name=description]").input_value()
    assert description.splitlines() == ["First line", "second line"]
    page.reload()
    page.locator("[name=title]").wait_for()
    assert page.get_by_text(_OFFER).count() == 0


def test_a_form_whose_token_was_too_old_is_sent_again(server: Server, page: Page) -> None:
    _open(server, page)
    page.locator("[name=title]").fill("Typed with an old token")
    page.locator("form:has([name=title]) [name=csrfmiddlewaretoken]").evaluate("field => (field.value = 'x')")
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_role("heading", name="This form could not be accepted", level=2).wait_for()
    page.goto(server.url + "/admin/")
    page.get_by_role("button", name="Send the form now").click()
    page.get_by_text("was changed successfully").wait_for()
    assert page.locator("[name=title]").input_value() == "Typed with an old token"


def test_a_form_is_sent_again_after_all_cookies_were_lost(server: Server, page: Page) -> None:
    _open(server, page)
    address = page.url
    page.locator("[name=title]").fill("Typed before the cookies went")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save and continue editing").click()
    fill_login(page)
    page.get_by_text(_OFFER).wait_for()
    assert page.url == address
    page.get_by_role("button", name="Send the form now").click()
    page.get_by_text("was changed successfully").wait_for()
    assert page.locator("[name=title]").input_value() == "Typed before the cookies went"


def test_nobody_else_is_offered_what_was_typed(server: Server, page: Page) -> None:
    _open(server, page)
    _type_and_lose_the_login(page, "Typed by the designer")
    fill_login(page, "admin")
    page.locator("[name=title]").wait_for()
    assert page.get_by_text(_OFFER).count() == 0
    assert page.evaluate("sessionStorage.length") == 0


def test_a_pasted_token_is_not_kept(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/explain-token/", account="admin")
    page.locator("[name=token]").fill("eyJhbGciOiJub25lIn0.e30.")
    page.context.clear_cookies(name="sessionid")
    page.locator("form:has([name=token]) button").click()
    page.get_by_label("Username").wait_for()
    assert page.evaluate("JSON.stringify(sessionStorage)").count("eyJ") == 0
