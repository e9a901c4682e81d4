"""Leaving a form with something that nobody has saved: the browser asks, on every page with a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import sign_in
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# The address of a form, and a field of it.
FORMS = {
    "/admin/designer/role/add/": "name",
    "/admin/designer/module/add/": "segment",
    "/admin/releases/new/": "name",
    "/admin/proposals/new/": "title",
    "/admin/expose/?entity=contact": "segment",
    "/admin/queries/new/": "name",
}


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def test_who_leaves_a_form_unsaved_is_asked(server: Server, page: Page) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    sign_in(page, server.url, account="admin")
    page.get_by_role("heading").first.wait_for()
    for address, name in FORMS.items():
        asked.clear()
        page.goto(server.url + address, wait_until="load")
        assert not asked, address
        field = page.locator(f"#content [name={name}]")
        field.click()
        page.keyboard.type("typed")
        before = field.input_value()
        page.locator("a[href='/admin/']").first.evaluate("link => link.click()")
        page.wait_for_timeout(300)
        assert asked == ["beforeunload"], address
        assert field.input_value() == before
        page.remove_listener("dialog", stay)
        page.once("dialog", lambda dialog: dialog.accept())
        page.goto(f"{server.url}/admin/")
        page.on("dialog", stay)
    # What was refused is as unsaved as what was typed.
    page.goto(f"{server.url}/admin/designer/role/add/", wait_until="load")
    page.locator("#content [name=name]").fill("not a name")
    page.locator("[name=_save]").click()
    page.locator(".errorlist").first.wait_for()
    page.wait_for_load_state("load")
    asked.clear()
    page.locator("#content [name=title]").click()
    page.locator("a[href='/admin/']").first.evaluate("link => link.click()")
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    assert page.locator("#content [name=name]").input_value() == "not a name"
