"""Signing in to the studio at an identity provider, and out of both, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.designer.signing_in import GROUPS, provider_settings, studio_client
from tests.identity_provider import IdentityProvider
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

USERS = {
    "ada": {"groups": ["crm-admins"], "preferred_username": "ada@contoso.example"},
    "eve": {"groups": ["canteen"], "preferred_username": "eve@contoso.example"},
}
Starting = Callable[..., Server]


@pytest.fixture
def starting(site: Site, identity_provider: IdentityProvider) -> Starting:
    """A studio with the provider, and more settings."""
    chosen = {**provider_settings(identity_provider), "STUDIO_OIDC_GROUPS": json.dumps(GROUPS)}

    def start(**more: str) -> Server:
        server = site.start(**chosen, **more)
        identity_provider.know(studio_client(server.url), users=USERS)
        return server

    return start


def is_of(server: Server, said: ConsoleMessage) -> bool:
    """Whether it is a complaint about the studio: the provider has no icon, for one."""
    return said.type == "error" and said.location["url"].startswith(server.url)


def sign_in(page: Page, url: str, user: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Sign in with Contoso").click()
    page.get_by_label("User").fill(user)
    page.get_by_label("User").press("Enter")


def test_somebody_signs_in_and_logs_out_of_both(page: Page, starting: Starting) -> None:
    server = starting()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if is_of(server, said) else None)
    target = f"{server.url}/admin/designer/module/"
    sign_in(page, target, "ada")
    page.wait_for_url(target)

    # The provider remembers: another session of the studio asks for nothing.
    page.context.clear_cookies(name="sessionid")
    page.goto(target)
    page.get_by_role("button", name="Sign in with Contoso").click()
    page.wait_for_url(target)

    page.evaluate("document.querySelector('form[action=\"/admin/logout/\"]').submit()")
    page.get_by_role("button", name="Sign out here too").click()
    page.wait_for_url(re.compile("/admin/login/"))
    page.goto(target)
    page.get_by_role("button", name="Sign in with Contoso").click()
    page.get_by_label("User").wait_for()
    assert complaints == []


def test_somebody_without_a_group_reads_why_and_signs_in_as_another(page: Page, starting: Starting) -> None:
    server = starting()
    sign_in(page, f"{server.url}/admin/", "eve")
    page.get_by_role("heading", name="You have no group that opens this studio").wait_for()
    page.get_by_text("Your group canteen does not open this studio.").wait_for()
    # The provider would send the same person again without being told to ask.
    page.get_by_role("button", name="Sign in with Contoso again").click()
    page.get_by_label("User").fill("ada")
    page.get_by_label("User").press("Enter")
    page.wait_for_url(f"{server.url}/admin/")


def test_only_the_emergency_account_has_a_password_where_passwords_are_off(
    page: Page, starting: Starting
) -> None:
    server = starting(STUDIO_LOCAL_LOGIN="admin")
    page.goto(f"{server.url}/admin/")
    assert not page.get_by_label("Password").is_visible()
    for account in ("designer", "admin"):
        if not page.get_by_label("Password").is_visible():
            page.get_by_text("Log in with an emergency account").click()
        page.get_by_label("Username").fill(account)
        page.get_by_label("Password").fill("demo")
        page.get_by_role("button", name="Log in", exact=True).click()
        if account == "designer":
            page.get_by_text("Please enter the correct username and password").wait_for()
    page.wait_for_url(f"{server.url}/admin/")


def test_the_pages_of_signing_in_fit_a_phone(page: Page, starting: Starting) -> None:
    server = starting()
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/admin/login/", "/admin/sign-in/callback/?state=x"):
        page.goto(server.url + path)
        width = "document.scrollingElement.scrollWidth"
        assert page.evaluate(width) == 390
