"""Swagger UI at `/api/docs`, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]

from tests.designer.walking import CONTRAST, found_in_grid, judged
from tests.servers import Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

CREATE = "Create an account"
MANY = """
from designer.models import Endpoint
account = Endpoint.objects.get(kind="create", entity__segment="accounts")
Endpoint.objects.bulk_create(
    Endpoint(kind="delete", module=account.module, entity=account.entity, segment=f"delete-{number}")
    for number in range(300)
)
"""


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Errors in the console, and requests to other hosts."""
    objections: list[str] = []
    page.on("console", lambda message: objections.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: objections.append(str(error)))
    page.on(
        "request",
        lambda request: (
            objections.append(request.url) if urlsplit(request.url).hostname != "127.0.0.1" else None
        ),
    )
    return objections


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The demo, of which the tests read only."""
    with copied(_prepared, tmp_path_factory.mktemp("docs") / "data", "docs") as site:
        yield site.start()


def authorize(page: Page, username: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    account = page.locator(".auth-container").first
    account.locator("input[type=text]").first.fill(username)
    account.locator("input[type=password]").first.fill("demo")
    account.locator(".auth-btn-wrapper button").first.click()


def test_who_authorizes_sees_what_their_roles_may_call(
    server: Server, page: Page, complaints: list[str]
) -> None:
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    assert page.get_by_text(CREATE, exact=True).count() == 0
    assert "Signed out" in page.locator("#reader").inner_text()
    authorize(page, "rep")
    page.get_by_text(CREATE, exact=True).wait_for()
    assert "Signed in" in page.locator("#reader").inner_text()
    assert page.get_by_text("Delete an account", exact=True).count() == 0
    page.get_by_text("Logout", exact=True).first.click()
    page.get_by_text(CREATE, exact=True).wait_for(state="detached")
    assert complaints == []


def test_the_modules_offered_are_those_that_the_reader_sees(server: Server, page: Page) -> None:
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    assert page.locator("#module option").all_inner_texts() == ["All", "Customer portal", "Sales"]
    authorize(page, "agent")
    page.get_by_role("button", name="Close").first.click()
    page.locator("#module option", has_text="Service").wait_for(state="attached")
    page.locator("#module").select_option("service")
    page.get_by_text("Send the contact form").wait_for(state="detached")
    # The demo speaks two languages, and the page says which one it shows.
    assert page.locator("#json").get_attribute("href") == "/api/openapi.json?lcid=1033&module=service"


def test_of_a_large_module_those_are_shown_that_are_looked_for(site: Site, page: Page) -> None:
    site.manage("shell", "-c", MANY)
    page.goto(site.start().url + "/api/docs")
    page.locator(".opblock-tag").first.wait_for()
    assert page.locator("#finder").is_hidden()
    authorize(page, "manager")
    page.get_by_role("button", name="Close").first.click()
    page.locator("#module").select_option("sales")
    page.locator("#count", has_text="200 of 3").wait_for()
    page.locator("#wanted").fill("DELETE-249")
    page.locator("#count", has_text="1 of 1 operations").wait_for()
    page.locator("#operations-tag-sales").click()
    page.get_by_text("/api/sales/delete-249/{id}").click()
    page.get_by_text("if_match_required").wait_for()


# How wide the list of a body's media types is, and how wide it would like to be.
_WIDTHS = """list => {
    const free = list.cloneNode(true);
    const sizes = { inlineSize: "max-content", minInlineSize: "0", maxInlineSize: "none" };
    Object.assign(free.style, { position: "absolute", ...sizes });
    list.parentElement.append(free);
    const wanted = free.getBoundingClientRect().width;
    free.remove();
    return [list.getBoundingClientRect().width, wanted];
}"""


def test_media_types_are_read_whole_on_a_telephone(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    authorize(page, "rep")
    page.get_by_role("button", name="Close").first.click()
    page.locator(".opblock-summary-control").filter(has_text="Send the contract").click()
    types = page.locator(".body-param-content-type select")
    types.wait_for()
    shown, wanted = types.evaluate(_WIDTHS)
    assert shown >= wanted
    # Another service's types are longer still: they stay inside of the operation.
    types.evaluate("list => list.add(new Option('application/x-www-form-urlencoded', '', true, true))")
    right = "node => node.getBoundingClientRect().right"
    assert types.evaluate(right) <= page.locator(".opblock.is-open").evaluate(right)


def test_the_page_is_dark_for_those_who_want_it_so(server: Server, page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert int(red) < 60


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_what_the_page_shows_can_be_read(
    server: Server, page: Page, colours: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=colours)
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    authorize(page, "manager")
    page.get_by_text(CREATE, exact=True).wait_for()
    page.evaluate(AXE_SCRIPT)
    # Of texts of one letter, such as a version, axe says nothing by itself.
    page.evaluate("axe._audit.checks['color-contrast'].options.ignoreLength = true")
    wrong = judged(page, CONTRAST)
    page.get_by_role("button", name="Close").first.click()
    for method in ("get", "post", "put", "patch", "delete"):
        page.locator(f".opblock-{method} .opblock-summary-control").first.click()
        page.locator(f".opblock-{method} .responses-wrapper").first.wait_for()
    tried = page.locator(".opblock-get.is-open")
    tried.get_by_role("button", name="Try it out").click()
    tried.get_by_role("button", name="Execute").click()
    tried.get_by_role("button", name="Download").wait_for()
    assert wrong + judged(page, CONTRAST) == []


def test_every_part_of_the_page_can_be_reached(server: Server, page: Page) -> None:
    page.goto(server.url + "/api/docs")
    page.get_by_text("Send the contact form").wait_for()
    # The address still says which operation is open.
    page.locator(".opblock-post .opblock-summary-control").first.click()
    page.wait_for_url("**#/sales/create.sales.leads")
    assert found_in_grid(page, is_dark=False) == []


def test_a_private_api_says_so_and_shows_itself_to_who_authorizes(site: Site, page: Page) -> None:
    page.goto(site.start(PRIVATE_DESCRIPTIONS="1").url + "/api/docs")
    page.get_by_text("callers with a token only").wait_for()
    assert page.get_by_text("Send the contact form").count() == 0
    authorize(page, "rep")
    page.get_by_text(CREATE, exact=True).wait_for()
