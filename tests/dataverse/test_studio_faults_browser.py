"""What scripts of the studio say in a browser where the platform, or the service itself, does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.browser import sign_in
from tests.dataverse.reaching import settings_for
from tests.servers import Server, Site, copied, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

AWAY = {"path": "/api/data/", "status": 403, "body": "<html>", "times": None}


@pytest.fixture(scope="module")
def crm(_failing_server: Server) -> Server:
    return _failing_server


@pytest.fixture(scope="module")
def server(_prepared: Site, crm: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service in front of a Dataverse of which nothing is known yet."""
    with copied(_prepared, tmp_path_factory.mktemp("browser_faults") / "data", "browser_faults") as site:
        arm(crm, AWAY)
        yield site.start(until="/health/live", **settings_for(crm))
        arm(crm)


def arm(crm: Server, *faults: dict[str, Any]) -> None:
    requests.put(f"{crm.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()


def opened(page: Page, server: Server, path: str) -> Page:
    sign_in(page, server.url, path)
    page.wait_for_url(f"**{path}")
    return page


def test_a_query_is_built_as_soon_as_the_platform_answers_and_says_why_not_until_then(
    server: Server, crm: Server, page: Page
) -> None:
    arm(crm, AWAY)
    opened(page, server, "/admin/queries/new/")
    said = page.locator(".studio-new-query [role=alert]")
    said.get_by_text("The platform answers 403.").wait_for()
    assert "sign-in page" in said.inner_text()
    assert page.get_by_role("combobox", name="Entity").count() == 0

    arm(crm)

    def is_built() -> bool:
        if page.get_by_role("combobox", name="Entity").count():
            return True
        page.locator(".studio-new-query").get_by_role("button", name="Try again").click()
        return False

    until(is_built, pause=0.5)
    assert said.count() == 0


def test_a_refresh_says_how_far_it_is_until_it_has_ended(server: Server, crm: Server, page: Page) -> None:
    arm(crm, {"path": "/RetrieveProvisionedLanguages", "delay": 5, "times": 1})
    opened(page, server, "/admin/platform/budget/")
    place = page.locator("[data-platform-state]")
    button = place.get_by_role("button", name="Refresh metadata")
    button.focus()

    page.keyboard.press("Enter")

    place.get_by_role("status").get_by_text("is still running").wait_for()
    assert button.get_attribute("aria-disabled") == "true"
    place.get_by_role("status").get_by_text("Refreshed").wait_for()
    assert button.get_attribute("aria-disabled") is None
    assert button.evaluate("node => node === document.activeElement")


def test_who_is_not_logged_in_any_more_is_told_so_and_shown_no_login_inside_of_the_page(
    server: Server, page: Page
) -> None:
    opened(page, server, "/admin/queries/new/")
    page.get_by_role("button", name="Refresh metadata").wait_for()
    page.context.clear_cookies(name="sessionid")

    page.get_by_role("button", name="Refresh metadata").click()

    page.locator("[data-platform-state] [role=alert]", has_text="Your login has ended.").wait_for()
    assert page.get_by_label("Password").count() == 0
