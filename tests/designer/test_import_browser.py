"""The import page in a browser: a file that was chosen stays chosen until it is imported or proposed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import sign_in
from tests.designer.walking import found_in_grid
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


_PROTECT = "from designer.models import Protection; Protection.objects.create(group='sales')"


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def _exported(server: Server, page: Page) -> dict[str, Any]:
    answer = page.request.get(server.url + "/admin/export/document/")
    document: dict[str, Any] = answer.json()
    return document


def _titled(document: dict[str, Any], **titles: str) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(document))
    for item in changed["endpoints"]:
        if (item.get("module"), item.get("exposure")) == ("sales", "accounts") and item["kind"] in titles:
            item["title"] = titles[item["kind"]]
    return changed


def _choose(server: Server, page: Page, document: dict[str, Any], file: Path) -> None:
    file.write_text(json.dumps(document), encoding="utf-8")
    page.goto(server.url + "/admin/import/")
    page.get_by_label("Document").set_input_files(file)
    page.get_by_role("button", name="Show the plan").first.click()
    page.get_by_role("heading", name="The plan").wait_for()


def _import(server: Server, page: Page, document: dict[str, Any], file: Path) -> None:
    _choose(server, page, document, file)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Imported.").wait_for()


def test_later_changes_are_left_or_taken_back_by_choice(server: Server, page: Page, tmp_path: Path) -> None:
    sign_in(page, server.url, "/admin/export/")
    file, exported = tmp_path / "c.json", _exported(server, page)
    _import(server, page, _titled(exported, read="Read later", update="Changed later"), file)

    _choose(server, page, _titled(exported, delete="Mine"), file)
    page.get_by_text("would take them back").wait_for()
    importing = page.get_by_role("button", name="Import", exact=True)
    importing.click()
    # The browser asks for a choice, and nothing was sent.
    read, update = (
        page.get_by_role("group", name=f"endpoint sales.accounts.{kind}") for kind in ("read", "update")
    )
    assert read.get_by_label("Leave it as it is now").evaluate("one => one.validity.valueMissing")

    page.get_by_role("button", name="Leave all as they are").click()
    page.get_by_text("endpoint sales.accounts.read stays as it is").wait_for()
    update.get_by_label("Change it to what the document says").check()
    # What the plan did not show is shown first.
    importing.click()
    page.get_by_text("endpoint sales.accounts.update stays as it is").wait_for(state="detached")
    importing.click()
    page.get_by_text("Imported.").wait_for()

    titles = {
        item["kind"]: item.get("title", "")
        for item in _exported(server, page)["endpoints"]
        if (item.get("module"), item.get("exposure")) == ("sales", "accounts")
    }
    assert (titles["read"], titles["delete"]) == ("Read later", "Mine")
    assert titles["update"] != "Changed later"


def test_what_asks_about_later_changes_can_be_read_and_used(
    server: Server, page: Page, tmp_path: Path
) -> None:
    sign_in(page, server.url, "/admin/export/")
    file, exported = tmp_path / "c.json", _exported(server, page)
    _import(server, page, _titled(exported, read="Read later", update="Changed later"), file)
    older = _titled(exported, delete="Mine")
    _choose(server, page, older, file)
    page.get_by_role("group", name="endpoint sales.accounts.read").get_by_label("Leave it").check()
    wrong = found_in_grid(page, is_dark=False) + found_in_grid(page, is_dark=True)

    page.goto(server.url + "/admin/proposals/new/")
    page.get_by_label("Title").fill("Older")
    page.get_by_label("Document").set_input_files(file)
    page.get_by_role("button", name="Open").last.click()
    page.get_by_label("Leave it out of the proposal").first.check()
    wrong += found_in_grid(page, is_dark=False) + found_in_grid(page, is_dark=True)

    assert wrong == []
    page.get_by_role("button", name="Leave out what is chosen").click()
    page.get_by_text("The proposal leaves the chosen items as they are.").wait_for()
    assert page.get_by_label("Leave it out of the proposal").count() == 1


def test_what_is_protected_is_opened_as_a_proposal(
    site: Site, server: Server, page: Page, tmp_path: Path
) -> None:
    site.manage("shell", "-c", _PROTECT)
    sign_in(page, server.url, "/admin/export/")

    _choose(server, page, _titled(_exported(server, page), read="Proposed"), tmp_path / "c.json")
    page.get_by_role("button", name="Open as a proposal").click()

    page.get_by_text("Opened as a proposal. Nothing that is live has changed.").wait_for()
