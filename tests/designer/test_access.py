"""Every page of the studio, for every eye: light and dark, narrow, with long names, from right to left."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import requests
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]

from crmbox.demo.people import FIRST_ACCOUNT
from designer.kinds import KINDS
from tests.browser import follow
from tests.designer.pages import Ask, pages
from tests.designer.walking import (
    CONTRAST,
    covering,
    faint,
    found_in_grid,
    judged,
    leave_out,
    too_wide,
    unreachable,
    walk,
)
from tests.servers import Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

LONG = "a-" + "donaudampfschifffahrtsgesellschaft-"[:30] * 2
TITLE = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
# Groups inside of groups, in which the longest words of the studio and of the platform stand side by side.
NESTED = """<fetch><entity name="account"><attribute name="name"/><filter type="and">
<condition attribute="preferredcontactmethodcode" operator="eq" value="1"/><filter type="or">
<condition attribute="createdon" operator="last-x-months" value="6"/><filter type="and">
<condition attribute="numberofemployees" operator="ge" value="10"/>
<condition attribute="customertypecode" operator="not-null"/></filter></filter></filter>
<link-entity name="contact" from="contactid" to="primarycontactid" alias="contact" link-type="outer">
<filter type="or"><condition attribute="address1_city" operator="not-null"/>
<filter type="and"><condition attribute="gendercode" operator="eq" value="1"/></filter></filter>
</link-entity></entity></fetch>"""
DOCUMENT = {
    "format": 1,
    "roles": [{"name": LONG, "title": TITLE}],
    "modules": [{"segment": LONG, "title": TITLE}],
    "entities": [{"module": LONG, "segment": LONG, "entity": "account", "title": TITLE}],
    "endpoints": [
        {
            "kind": "create",
            "module": LONG,
            "exposure": LONG,
            "title": TITLE,
            "enabled": False,
            "access": {"roles": [LONG]},
            "inputs": [{"name": TITLE.replace("ä", "a")[:60], "max_length": 4000}],
            "bindings": [{"attribute": "name", "value": "missing"}],
        },
        {
            "kind": "multi-query",
            "module": LONG,
            "name": LONG,
            "title": TITLE,
            "enabled": False,
            "columns": [{"attribute": "name"}],
            "settings": {"query": NESTED},
        },
    ],
}
# The sidebar is the same on every page: it is judged on one. So are the sections of endpoints.
SIDEBAR = "#nav-sidebar"
ALIKE = {f"an endpoint: {kind}" for kind in KINDS} - {"an endpoint: create", "an endpoint: paginated-query"}


@dataclass
class Studio:
    """A running studio with long names in it, a release, and a session of its administrator."""

    url: str
    session: requests.Session

    def ask(self, path: str) -> tuple[int, str, str]:
        answer = self.session.get(self.url + path, allow_redirects=False)
        return answer.status_code, answer.headers.get("Content-Type", ""), answer.text

    def send(self, path: str, **values: str) -> None:
        page = self.session.get(self.url + path).text
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        self.session.post(self.url + path, {"csrfmiddlewaretoken": token[1], **values}).raise_for_status()

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.session.cookies}


@pytest.fixture(scope="module")
def studio(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("access")
    document = folder / "long.json"
    document.write_text(json.dumps(DOCUMENT))
    with copied(_prepared, folder / "data", "access") as site:
        site.manage("importconfig", str(document))
        running: Server = site.start()
        made = Studio(running.url, requests.Session())
        made.send("/admin/login/", username="admin", password="demo", next="/admin/")
        made.send("/admin/releases/new/", major="1", minor="0", changelog=TITLE)
        yield made


@pytest.fixture(scope="module")
def addresses(studio: Studio) -> dict[str, str]:
    ask: Ask = studio.ask
    by_name = pages(ask)
    assert {"admin:index", "studio:release", "studio:matrix", "an endpoint: create"} <= set(by_name)
    return by_name


LINES = """<!DOCTYPE html><html lang="en"><title>Lines</title><main style="background: #fff"><h1>Lines</h1>
<p>Dark</p><p>Dark, too</p><p style="color: #bbb">Grey</p><p style="opacity: 0.3"><b>Faint</b></p>
<p>Dark again</p>
<div style="background: #000; color: #fff"><p>White</p><p>White, too</p><p style="color: #444">Black</p></div>
<button disabled style="color: #bbb; background: #fff">Off</button>
<button style="color: #bbb; background: #fff">On</button></main></html>"""


def test_what_cannot_be_read_is_found_among_what_has_been_judged_before(page: Page) -> None:
    page.set_content(LINES)
    page.evaluate(AXE_SCRIPT)
    for _ in range(2):
        texts = [re.findall(r">(\w+)</", one) for one in judged(page, CONTRAST)]
        assert sorted(texts) == sorted([["Grey"], ["Faint"], ["Black"], ["On"]] * 2)


SMALL = """<!DOCTYPE html><html lang="en"><title>Small</title>
<style>* { margin: 0; } button { display: block; border: 0; padding: 0; width: 16px; height: 16px; }</style>
<main style="height: 3000px"><h1 style="height: 758px">Small</h1>
<button aria-label="Above the bar"></button><p style="height: 12px"></p>
<button aria-label="Half below"></button><p style="height: 700px"></p>
<button aria-label="Too near"></button><button aria-label="To this"></button></main>
<footer style="position: sticky; bottom: 0; height: 57px; background: #fff; z-index: 40">
<button style="width: 100px; height: 40px">Save</button></footer></html>"""


def test_what_a_bar_covers_is_not_taken_for_too_small(page: Page) -> None:
    page.set_content(SMALL)

    found = "".join(unreachable(page))

    assert "target-size" in found
    assert "Too near" in found
    assert "Above the bar" not in found
    assert "Half below" not in found


def test_every_page_is_reachable_readable_and_quiet(
    chromium: Browser, studio: Studio, addresses: dict[str, str]
) -> None:
    wrong: dict[str, list[str]] = {}
    with walk(chromium, studio.url, studio.cookies) as walker:
        for name, path in addresses.items():
            page = walker.to(studio.url + path)
            wrong[name] = too_wide(page) + faint(page)
            if name != "admin:index":
                leave_out(page, SIDEBAR)
            if name not in ALIKE:
                wrong[name] += unreachable(page)
            wrong[name] += walker.noise
            walker.noise.clear()
    assert {name: problems for name, problems in wrong.items() if problems} == {}


def test_every_page_is_as_wide_as_its_window_from_right_to_left(
    chromium: Browser, studio: Studio, addresses: dict[str, str]
) -> None:
    wrong: dict[str, list[str]] = {}
    with walk(chromium, studio.url, {**studio.cookies, "django_language": "ar"}) as walker:
        for name, path in addresses.items():
            wrong[name] = [*too_wide(walker.to(studio.url + path)), *walker.noise]
            walker.noise.clear()
    assert {name: problems for name, problems in wrong.items() if problems} == {}


@pytest.mark.a11y
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_page_is_reachable_in_the_whole_grid(
    chromium: Browser, studio: Studio, addresses: dict[str, str], language: str, is_dark: bool
) -> None:
    wrong: dict[str, list[str]] = {}
    with walk(chromium, studio.url, {**studio.cookies, "django_language": language}) as walker:
        for name, path in {**addresses, "the API's documentation": "/api/docs"}.items():
            page = walker.to(studio.url + path)
            wrong[name] = [*found_in_grid(page, is_dark=is_dark), *covering(page)]
    assert {name: problems for name, problems in wrong.items() if problems} == {}


def _login(page: Page) -> None:
    page.context.clear_cookies()
    page.reload()


def _account_menu(page: Page) -> None:
    page.get_by_role("button", name="Account:").click()


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.locator("#studio-palette-list a").first.wait_for()


def _attributes(page: Page) -> None:
    page.locator("[data-add-attributes]").first.click()


def _picker(page: Page) -> None:
    page.get_by_role("button", name="Add entity property").click()
    page.locator(".studio-property-row").last.get_by_role("combobox", name="Attribute").press("ArrowDown")
    page.locator(".studio-choices:not([hidden])").wait_for()


def _refused_save(page: Page) -> None:
    page.locator("label[for=id_enabled]").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".studio-refused").wait_for()
    # What scripts have checked by then leaves it to be read.
    page.wait_for_load_state("networkidle")
    assert page.locator(".studio-refused").is_visible()


def _open_try(page: Page) -> None:
    """The page of its own, which narrow windows lead to."""
    page.goto(page.url.replace("/change/", "/try/"))


def _tried(page: Page) -> None:
    _open_try(page)
    page.get_by_role("button", name="Dry run", exact=True).click()


def _answered(page: Page) -> None:
    """A record with so many columns that the table of the answer is wider than the page."""
    follow(page.locator("nav .studio-leaf[title^='/api/sales/accounts/{id}:']", has_text="Read"))
    _open_try(page)
    page.get_by_label("Id of the record").fill(FIRST_ACCOUNT)
    page.get_by_role("button", name="Call for real", exact=True).click()
    page.locator("[data-status]", has_text="200").wait_for()
    page.locator(".studio-try table").wait_for()


def _made_key(page: Page) -> None:
    page.get_by_label("Name").fill(LONG)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Copy the key now").wait_for()


def _issuer_with_findings(page: Page) -> None:
    """A role rule that names a role that there is none of, and a record that nobody needs to have."""
    page.get_by_label("Name", exact=False).first.fill(LONG)
    page.locator("#id_issuer").fill(f"https://{LONG[:60]}.example/{LONG}")
    page.locator("#id_audiences").fill(LONG)
    page.get_by_role("link", name="Add role rule").click()
    page.locator("#id_role_rules-0-claim").fill("groups")
    page.locator("#id_role_rules-0-grants").fill("value = no-such-role")
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_text("Findings of this issuer").wait_for()


def _explained(page: Page) -> None:
    """Steps that fail, of a token whose claims are long."""
    parts = ({"alg": "RS256", "kid": LONG}, {"iss": f"https://{LONG}.example/", "sub": LONG})
    token = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    page.get_by_label("Token").fill(f"{token.replace('=', '')}.AAAA")
    page.get_by_role("button", name="Explain", exact=True).click()
    page.get_by_text("The token is refused").wait_for()


def _planned_import(page: Page) -> None:
    """A plan that changes what callers with long names get, and leaves out what is kept."""
    url = page.url.removesuffix("import/")
    document = page.context.request.get(f"{url}export/document/").json()
    changed = [one for one in document["endpoints"] if one.get("inputs") and one.get("enabled", True)]
    for one in changed:
        one["description"] = LONG
        one["inputs"][0]["max_length"] = 3
    document["endpoints"] = [one for one in document["endpoints"] if one["kind"] != "delete"]
    content = json.dumps(document).encode()
    file: FilePayload = {"name": "a.json", "mimeType": "application/json", "buffer": content}
    page.set_input_files("input[name=document]", file)
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_text("Endpoints that may answer differently").wait_for()
    assert page.get_by_text("is not in the document; it is kept").count() == 1
    assert page.get_by_text("--delete").count() == 0


def _selected(page: Page) -> None:
    page.locator("#result_list .action-select").first.check()
    page.locator("#changelist-actions").wait_for()


OPENED: dict[Callable[[Page], None], str] = {
    _selected: "admin:designer_endpoint_changelist",
    _account_menu: "admin:index",
    _palette: "admin:index",
    _attributes: "an endpoint: create",
    _picker: "an endpoint: create",
    _refused_save: "an endpoint: create",
    _tried: "an endpoint: paginated-query",
    _answered: "admin:index",
    _login: "admin:index",
    _made_key: "admin:runtime_apikey_add",
    _issuer_with_findings: "admin:designer_issuer_add",
    _explained: "studio:explain_token",
    _planned_import: "studio:import",
}


@pytest.mark.parametrize("act", OPENED, ids=lambda act: act.__name__)
def test_what_opens_on_a_page_is_reachable_and_readable(
    chromium: Browser, studio: Studio, addresses: dict[str, str], act: Callable[[Page], None]
) -> None:
    with walk(chromium, studio.url, studio.cookies) as walker:
        page = walker.to(studio.url + addresses[OPENED[act]])
        act(page)
        assert [*unreachable(page, is_covered=True), *too_wide(page), *walker.noise] == []
