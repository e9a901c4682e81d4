"""The portal page of `examples/portal`, in a browser, against the running service."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers import ROOT, Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def origin() -> Iterator[str]:
    """Where the page's files are served, which is not where the API is."""
    files = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=ROOT / "examples" / "portal")
    )
    threading.Thread(target=files.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{files.server_port}"
    files.shutdown()
    files.server_close()


@pytest.fixture
def server(site: Site, origin: str) -> Server:
    return site.start(CORS_ORIGINS=origin, ADDRESS_RATE="0")


@pytest.fixture
def portal(server: Server, origin: str, page: Page) -> Page:
    """The page, signed in as a sales representative."""
    page.goto(f"{origin}/?api={server.url}")
    page.get_by_label("User name").fill("rep")
    page.get_by_label("Password").fill("demo")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#list tbody tr, #message:not(:empty)").first.wait_for()
    assert page.locator("#message").inner_text() == ""
    return page


def test_a_form_made_of_the_schema_creates_a_record_and_a_file_for_it(portal: Page) -> None:
    form = portal.locator("#create")
    assert form.get_by_label("Account Name").get_attribute("maxlength") == "160"
    form.get_by_role("button", name="Create").click()
    form.get_by_text("Is required.").wait_for()
    form.get_by_label("Account Name").fill("Adventure Works")
    form.get_by_label("Industry").select_option("Consulting")
    form.get_by_label("Primary Contact").select_option(index=1)
    form.get_by_role("button", name="Create").click()
    portal.get_by_text("Created Adventure Works.").wait_for()
    pdf = {"name": "contract.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\n%%EOF\n"}
    portal.locator("#contract input[type=file]").set_input_files(pdf)  # type: ignore[arg-type]
    portal.get_by_role("button", name="Send").click()
    portal.get_by_text("Sent contract.pdf, 15 bytes.").wait_for()


def test_a_table_made_of_the_schema_goes_page_by_page(portal: Page) -> None:
    rows = portal.locator("#list tbody tr")
    first = rows.first.inner_text()
    assert rows.count() == 10
    portal.get_by_role("button", name="Next page").click()
    portal.wait_for_function("old => document.querySelector('#list tbody tr').innerText !== old", arg=first)
    portal.get_by_role("button", name="First page").click()
    portal.wait_for_function("old => document.querySelector('#list tbody tr').innerText === old", arg=first)


def test_labels_and_options_are_in_the_language_chosen(portal: Page) -> None:
    assert "Business Services" in portal.locator("#create select").first.inner_text()
    portal.get_by_label("Language").select_option("Deutsch")
    portal.locator("#create").get_by_text("Firmenname").wait_for()
    assert "Unternehmensdienstleistungen" in portal.locator("#create select").first.inner_text()
    portal.locator("#list thead").get_by_text("Branche").wait_for()
    assert portal.locator("h1").inner_text() == "Firmen"
