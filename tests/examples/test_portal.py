"""The customer portal of `examples/portal`, in a browser, against the running service."""

from __future__ import annotations

import functools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from crmbox.demo.people import CLARA_CUSTOMER
from tests.designer.walking import TELEPHONE, unreachable
from tests.identity_provider import IdentityProvider, client
from tests.runtime.portal import COSMOS
from tests.servers import ROOT, Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

FOLDER = ROOT / "examples" / "portal"
AUDIENCE = "https://api.example"


class Pages(SimpleHTTPRequestHandler):
    """The portal's files, with settings of the test's own."""

    settings: dict[str, str]

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/settings.json":
            super().do_GET()
            return
        body = json.dumps({**json.loads((FOLDER / "settings.json").read_text()), **self.settings}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class PageServer(ThreadingHTTPServer):
    # A page asks for a dozen modules at once; the five connections that may wait otherwise are too few.
    request_queue_size = 128


@contextmanager
def served() -> Iterator[tuple[str, dict[str, str]]]:
    """Where the page is served, which is not where the API is, and its settings, to be filled."""
    settings: dict[str, str] = {}
    handler = type("PagesOfATest", (Pages,), {"settings": settings})
    pages = PageServer(("127.0.0.1", 0), functools.partial(handler, directory=FOLDER))
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{pages.server_port}", settings
    pages.shutdown()
    pages.server_close()


@pytest.fixture(scope="module")
def origin(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The portal before a service of this module: tests name what they make."""
    folder = tmp_path_factory.mktemp("portal") / "data"
    with served() as (origin, settings), copied(_prepared, folder, "portal") as site:
        settings["api"] = site.start(CORS_ORIGINS=origin, ADDRESS_RATE="0", LOGIN_RATE="0").url
        yield origin


def sign_in(page: Page, origin: str, account: str) -> None:
    page.goto(f"{origin}/#/sign-in")
    page.get_by_label("User name").fill(account)
    page.get_by_label("Password").fill("demo")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="My cases").wait_for()
    page.locator("tbody tr").first.wait_for()


def make_case(page: Page, title: str) -> str:
    """Report a problem, and answer the address of the case."""
    page.get_by_role("link", name="Report a problem").click()
    page.get_by_label("Case Title").fill(title)
    page.get_by_label("Description").fill("It hums.")
    page.get_by_label("Priority").select_option("High")
    page.get_by_role("button", name="Report").click()
    page.get_by_role("heading", name=title).wait_for()
    return page.url


@pytest.fixture
def clara(origin: str, page: Page) -> Page:
    """The portal, signed in as the customer Clara."""
    sign_in(page, origin, "customer")
    return page


@pytest.fixture
def cosmo(origin: str, chromium: Browser) -> Iterator[Page]:
    """The portal in a browser of his own, signed in as the customer Cosmo."""
    context = chromium.new_context()
    page = context.new_page()
    sign_in(page, origin, "customer2")
    yield page
    context.close()


def test_a_customer_reports_attaches_and_closes_and_another_sees_none_of_it(clara: Page, cosmo: Page) -> None:
    address = make_case(clara, "The new lamp hums")
    clara.get_by_text("Nothing is attached.").wait_for()
    text = {"name": "hum.txt", "mimeType": "text/plain", "buffer": b"Hmmmm"}
    clara.get_by_label("Attach a file").set_input_files(text)  # type: ignore[arg-type]
    clara.get_by_role("button", name="Send").click()
    clara.get_by_text("hum.txt is attached.").wait_for()
    with clara.expect_download() as got:
        clara.get_by_role("button", name="Download hum.txt").click()
    assert Path(got.value.path()).read_bytes() == b"Hmmmm"
    clara.get_by_role("button", name="Close case").click()
    clara.get_by_label("What solved it?").fill("Another lamp.")
    clara.get_by_role("dialog").get_by_role("button", name="Close case").click()
    clara.get_by_text("The case is closed.").wait_for()
    clara.get_by_text("Problem Solved").wait_for()
    assert clara.get_by_role("button", name="Close case").count() == 0
    assert clara.get_by_label("Attach a file").count() == 0
    assert "The new lamp hums" not in cosmo.locator("main").inner_text()
    assert cosmo.get_by_role("link", name="My company").count() == 0
    cosmo.goto(address)
    cosmo.get_by_text("There is nothing here that you can see.").wait_for()
    assert "lamp" not in cosmo.content()


def test_a_form_made_of_the_schema_says_at_the_field_what_is_wrong(clara: Page) -> None:
    clara.get_by_role("link", name="Report a problem").click()
    title = clara.get_by_label("Case Title")
    assert title.get_attribute("maxlength") == "200"
    clara.get_by_role("button", name="Report").click()
    clara.get_by_text("Is required.").wait_for()
    assert title.get_attribute("aria-invalid") == "true"
    assert title.evaluate("control => document.activeElement === control")
    described = str(title.get_attribute("aria-describedby")).split()
    assert "Is required." in clara.locator(f"#{described[0]}").inner_text()


def test_a_file_of_another_kind_is_refused_at_its_field(clara: Page) -> None:
    make_case(clara, "A file of another kind")
    program = {"name": "tool.exe", "mimeType": "application/octet-stream", "buffer": b"MZ"}
    clara.get_by_label("Attach a file").set_input_files(program)  # type: ignore[arg-type]
    clara.get_by_role("button", name="Send").click()
    clara.locator("label .error").wait_for()
    assert clara.get_by_label("Attach a file").get_attribute("aria-invalid") == "true"


def test_my_cases_go_page_by_page(clara: Page) -> None:
    rows = clara.locator("tbody tr")
    assert rows.count() == 10
    total = int(re.findall(r"of (\d+)", clara.locator("output").inner_text())[0])
    assert total > 10
    while clara.get_by_role("button", name="Show more").is_visible():
        before = rows.count()
        clara.get_by_role("button", name="Show more").click()
        clara.wait_for_function("before => document.querySelectorAll('tbody tr').length > before", arg=before)
    assert rows.count() == total
    links = [link.get_attribute("href") for link in clara.locator("tbody a").all()]
    assert len(set(links)) == total


def test_my_cases_are_narrowed(clara: Page) -> None:
    clara.get_by_label("State").select_option("Cancelled")
    clara.get_by_text("1 of 1").wait_for()
    clara.get_by_label("Words of the title").fill("no such words")
    clara.get_by_role("button", name="Find").click()
    clara.get_by_text("No case fits.").wait_for()


def test_the_primary_contact_sees_the_companys_cases(clara: Page) -> None:
    clara.get_by_role("link", name="My company").click()
    clara.get_by_role("link", name="Return label for a broken sensor").click()
    # The list names the colleague, too, and stands there until the case has been read.
    clara.get_by_role("heading", name="Return label for a broken sensor").wait_for()
    clara.get_by_text("Conny Colleague").wait_for()
    assert clara.get_by_role("button", name="Close case").count() == 0
    clara.goto(f"{clara.url.partition('#')[0]}#/cases/{COSMOS}")
    clara.get_by_text("There is nothing here that you can see.").wait_for()


def test_a_profile_is_changed_and_says_at_the_field_what_is_wrong(cosmo: Page) -> None:
    cosmo.get_by_role("link", name="Profile").click()
    last = cosmo.get_by_label("Last Name")
    last.fill("")
    cosmo.get_by_role("button", name="Save").click()
    cosmo.locator("label .error").wait_for()
    last.fill("Kontakt")
    cosmo.get_by_label("Address 1: City").fill("Ulm")
    cosmo.get_by_role("button", name="Save").click()
    cosmo.get_by_text("Your profile is saved.").wait_for()
    assert cosmo.locator("#name").inner_text() == "Cosmo Kontakt"
    cosmo.reload()
    cosmo.get_by_label("Address 1: City").wait_for()
    assert cosmo.get_by_label("Address 1: City").input_value() == "Ulm"


def test_labels_and_options_are_in_the_language_chosen(clara: Page) -> None:
    clara.get_by_label("Language").select_option("Deutsch")
    clara.get_by_role("heading", name="Meine Anfragen").wait_for()
    clara.locator("tbody").get_by_text("In Bearbeitung").first.wait_for()
    clara.get_by_role("link", name="Problem melden").click()
    clara.get_by_label("Anfragetitel").wait_for()
    assert "Niedrig" in clara.get_by_label("Priorität").inner_text()
    assert clara.locator("html").get_attribute("lang") == "de"


def test_articles_are_read_without_signing_in(origin: str, page: Page) -> None:
    page.goto(origin)
    page.get_by_text("How to report a problem").click()
    page.get_by_text("what you did, and what happened instead").wait_for()
    page.get_by_label("Words of the title").fill("password")
    page.get_by_role("button", name="Find").click()
    page.wait_for_function("() => document.querySelectorAll('details').length === 1")
    assert page.get_by_role("link", name="My cases").count() == 0


@pytest.mark.parametrize("file", ["portal.js", "texts.js", "settings.json"])
@pytest.mark.parametrize("how", ["abort", "missing"])
def test_what_cannot_be_loaded_is_said(origin: str, page: Page, file: str, how: str) -> None:
    page.route(f"**/{file}", lambda route: route.abort() if how == "abort" else route.fulfill(status=404))
    page.goto(f"{origin}/#/sign-in")
    page.get_by_text("The portal could not be loaded. Load the page again.").wait_for()


def test_a_service_that_cannot_be_reached_is_said_in_the_language_chosen(origin: str, page: Page) -> None:
    page.goto(origin)
    page.get_by_text("How to report a problem").wait_for()
    page.get_by_label("Language").select_option("Deutsch")
    page.get_by_role("heading", name="Hilfe").wait_for()
    page.route("**/api/**", lambda route: route.abort())
    page.goto(f"{origin}/#/sign-in")
    page.get_by_label("Benutzername").fill("customer")
    page.get_by_label("Kennwort").fill("demo")
    page.get_by_role("button", name="Anmelden").last.click()
    page.get_by_text("Der Dienst ist nicht erreichbar.").wait_for()
    page.goto(origin)
    page.get_by_text("Der Dienst ist nicht erreichbar.").wait_for()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Noch einmal versuchen").click()
    page.get_by_text("How to report a problem").wait_for()


def test_what_the_crm_holds_is_never_run(origin: str, page: Page) -> None:
    page.goto(origin)
    page.locator("details").first.wait_for()
    hostile = (
        "<p onclick='x()' style='color:red'>One<script>window.hit = 1</script></p>"
        "<img src=x onerror='window.hit = 2'><a href='javascript:hit()'>two</a>"
        "<iframe srcdoc='three'></iframe>"
    )
    made = page.evaluate(
        """async (html) => {
            const { article, make } = await import("./elements.js");
            const place = make("div", {}, article(html));
            document.body.append(place);
            return place.innerHTML;
        }""",
        hostile,
    )
    assert made == "<p>One</p>two"
    assert page.evaluate("window.hit") is None


def test_a_reload_stays_signed_in_and_signing_out_ends_it(clara: Page, origin: str) -> None:
    clara.reload()
    clara.locator("tbody tr").first.wait_for()
    token = clara.evaluate("sessionStorage.getItem('portal.refresh')")
    clara.get_by_role("button", name="Sign out").click()
    clara.get_by_role("link", name="Sign in").wait_for()
    assert clara.evaluate("sessionStorage.length") == 0
    api = clara.evaluate("fetch('settings.json').then((answer) => answer.json())")["api"]
    clara.wait_for_load_state("networkidle")
    given = {"grant_type": "refresh_token", "refresh_token": token}
    assert requests.post(f"{api}/api/token", data=given, timeout=60).status_code == 400
    clara.goto(f"{origin}/#/cases")
    clara.get_by_label("User name").wait_for()


def test_a_token_that_has_expired_is_renewed_and_the_call_repeated(clara: Page) -> None:
    refused: list[int] = []

    def with_a_bad_token(route: Any) -> None:
        headers = route.request.headers
        if not refused:
            refused.append(401)
            headers = {**headers, "authorization": "Bearer a.b.c"}
        route.continue_(headers=headers)

    clara.route("**/queries/my-cases*", with_a_bad_token)
    clara.get_by_role("link", name="Help").click()
    clara.get_by_role("link", name="My cases").click()
    clara.locator("tbody tr").first.wait_for()
    assert refused == [401]


@pytest.mark.parametrize("path", ["articles", "sign-in", "cases", "new", "company", "profile", "case"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_each_page(origin: str, page: Page, path: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    sign_in(page, origin, "customer")
    if path == "case":
        page.locator("tbody a").nth(1).click()
        page.locator("dl").wait_for()
    else:
        page.goto(f"{origin}/#/{path}")
        page.locator("main h1").wait_for()
    page.wait_for_load_state("networkidle")
    assert unreachable(page) == []
    page.set_viewport_size({"width": TELEPHONE[0], "height": TELEPHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_customers_sign_in_at_an_issuer_by_code_and_pkce(
    site: Site, tmp_path: Path, page: Page, identity_provider: IdentityProvider
) -> None:
    with served() as (origin, settings):
        identity_provider.know(
            client("portal", redirects=[f"{origin}/"], public=True),
            users={"clara": {"crm_contact": CLARA_CUSTOMER}, "nobody": {}},
        )
        server = _trusting(site, tmp_path, identity_provider.issuer, origin)
        settings |= {
            "api": server.url,
            "issuer": identity_provider.issuer,
            "clientId": "portal",
            "resource": AUDIENCE,
        }
        page.goto(f"{origin}/#/profile")
        with page.expect_request(f"{identity_provider.issuer}/auth?*") as asked:
            page.get_by_role("button", name="Go on to sign in").click()
        assert "code_challenge_method=S256" in asked.value.url
        page.get_by_label("User").fill("clara")
        page.keyboard.press("Enter")
        page.get_by_label("First Name").wait_for()
        assert page.url == f"{origin}/#/profile"
        assert page.locator("#name").inner_text() == "Clara Customer"
        page.get_by_role("link", name="My cases").click()
        page.locator("tbody tr").first.wait_for()
        # An answer that this tab has not asked for signs nobody in.
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("link", name="Sign in").wait_for()
        page.goto(f"{origin}/?code=stolen&state=guessed")
        page.get_by_text("This sign-in was not begun here.").wait_for()


def _trusting(site: Site, folder: Path, issuer: str, origin: str) -> Server:
    """The service, whose customers are signed in by the issuer."""
    document = {
        "format": 2,
        "issuers": [
            {
                "name": "customers",
                "issuer": issuer,
                "audiences": [AUDIENCE],
                "roles": ["customer"],
                "record": {"type": "contact", "claim": "crm_contact"},
            }
        ],
    }
    path = folder / "issuer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    hosts = {"ISSUER_PRIVATE_HOSTS": "127.0.0.1"}
    site.manage("importconfig", str(path), **hosts)
    return site.start(CORS_ORIGINS=origin, ADDRESS_RATE="0", **hosts)
