"""Answers that come late: of several requests for one place of the page, the newest one's answer is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import follow, sign_in
from tests.designer.create_page import open_create
from tests.servers import Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# Milliseconds in which a page shows an answer that has arrived, on a busy machine as well.
SHOWN_BY_THEN = 1_500


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running studio, which no test here changes."""
    with copied(_prepared, tmp_path_factory.mktemp("late") / "data", "late_answers") as site:
        yield site.start()


class Delay:
    """Holds the next request to an address that ends with `path`, until it is released."""

    def __init__(self, page: Page, path: str) -> None:
        self._page = page
        self._held: list[Route] = []
        self._is_ours = lambda url: url.split("?")[0].endswith(path)
        page.route(self._is_ours, self._hold)

    def _hold(self, route: Route) -> None:
        if self._held:
            route.continue_()
        else:
            self._held.append(route)

    def sent(self) -> Request:
        """Wait until the request is there, and return it."""
        while not self._held:
            self._page.wait_for_timeout(20)
        return self._held[0].request

    def release(self) -> None:
        """Let the request through. The page may not wait for it any more."""
        self.sent()
        self._held[0].continue_()
        self._page.wait_for_timeout(SHOWN_BY_THEN)


def test_a_run_that_is_answered_late_does_not_replace_what_a_later_one_found(
    server: Server, page: Page
) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?kind=paginated-query")
    follow(page.get_by_role("link", name="GET /api/sales/queries/accounts", exact=True))
    page.get_by_role("button", name="Run", exact=True).click()
    answer = page.locator("[data-run-answer]")
    answer.get_by_role("table").wait_for()
    delay = Delay(page, "/run/")
    page.get_by_role("button", name="Run again").click()
    delay.sent()

    page.locator("#run_query__name").fill("Nobody is called so")
    page.get_by_role("button", name="Run again").click()
    answer.get_by_text("Nothing matches.").wait_for()
    delay.release()

    assert answer.get_by_text("Nothing matches.").is_visible()
    assert page.locator("#run_query__name").input_value() == "Nobody is called so"


def test_run_pressed_twice_finds_the_records(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?kind=paginated-query")
    follow(page.get_by_role("link", name="GET /api/sales/queries/accounts", exact=True))
    delay = Delay(page, "/run/")
    page.get_by_role("button", name="Run", exact=True).click()
    delay.sent()

    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-run-answer]").get_by_role("table").wait_for()
    delay.release()

    assert page.locator("[data-run-answer]").get_by_role("table").is_visible()


def test_what_ran_before_the_query_was_changed_is_marked_even_if_it_is_answered_after(
    server: Server, page: Page
) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?kind=paginated-query")
    follow(page.get_by_role("link", name="GET /api/sales/queries/accounts", exact=True))
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-run-answer]").get_by_role("table").wait_for()
    delay = Delay(page, "/run/")
    page.get_by_role("button", name="Run again").click()
    delay.sent()

    page.locator("#field-settings__query").get_by_label("Output name").first.fill("other")
    delay.release()

    page.locator("[data-run-answer] [data-stale-answer]").wait_for()
    assert page.locator("[data-run-answer]").get_by_role("table").is_visible()


def test_rows_that_come_late_keep_what_is_being_typed(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    text = page.locator("textarea[data-fetchxml]")
    text.fill(
        '<fetch><entity name="account"><attribute name="name"/><filter><condition attribute="name" '
        'operator="eq" value="A"/></filter></entity></fetch>'
    )
    value = page.get_by_label("Value", exact=True)
    value.wait_for()
    delay = Delay(page, "/metadata/")
    # The rows of a linked entity need its metadata.
    page.get_by_role("combobox", name="Linked entity").first.fill("Primary Contact")
    page.keyboard.press("Enter")
    delay.sent()

    value.fill("Contoso")
    delay.release()

    page.locator(".studio-link").wait_for()
    page.keyboard.type(" Ltd")
    assert value.input_value() == "Contoso Ltd"
    assert 'value="Contoso Ltd"' in text.input_value()


def test_rows_that_come_late_keep_a_name_that_is_being_searched(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    text = page.locator("textarea[data-fetchxml]")
    text.fill('<fetch><entity name="account"><attribute name="name"/></entity></fetch>')
    column = page.get_by_role("combobox", name="Column")
    column.wait_for()
    delay = Delay(page, "/metadata/")
    page.get_by_role("combobox", name="Linked entity").first.fill("Primary Contact")
    page.keyboard.press("Enter")
    delay.sent()

    column.first.fill("telep")
    delay.release()

    page.locator(".studio-link").wait_for()
    page.keyboard.type("hone1")
    page.keyboard.press("Enter")
    assert '<attribute name="telephone1"/>' in text.input_value()


def _open_try(server: Server, page: Page) -> None:
    """Show “Try it” beside the page of the demo's create, filled in."""
    open_create(server, page)
    page.get_by_role("tab", name="Try it").click()
    page.locator("[data-dock-try] [name=body__name]").fill("Contoso")


def test_a_form_that_is_answered_late_does_not_replace_what_a_call_answered(
    server: Server, page: Page
) -> None:
    _open_try(server, page)
    delay = Delay(page, "/try/")
    page.evaluate("studio.rows.add('inputs', { name: 'later' })")
    delay.sent()

    page.get_by_role("button", name="Dry run").click()
    page.locator("[data-dock-try] [data-status]").wait_for()
    page.locator("[data-dock-try] [name=body__later]").wait_for()
    delay.release()

    assert page.locator("[data-dock-try] [data-status]").is_visible()
    assert page.locator("[data-dock-try] [name=body__name]").input_value() == "Contoso"


def test_of_two_dry_runs_the_later_one_is_shown(server: Server, page: Page) -> None:
    _open_try(server, page)
    delay = Delay(page, "/try/")
    page.get_by_role("button", name="Dry run").click()
    delay.sent()

    page.locator("[data-dock-try] [name=body__name]").fill("Fabrikam")
    page.get_by_role("button", name="Dry run").click()
    page.locator("[data-dock-try] pre", has_text="Fabrikam").first.wait_for()
    delay.release()

    assert page.locator("[data-dock-try] pre", has_text="Fabrikam").first.is_visible()
    assert page.locator("[data-dock-try] [name=body__name]").input_value() == "Fabrikam"


def test_what_a_call_for_real_answers_is_shown_though_the_page_changes_meanwhile(
    server: Server, page: Page
) -> None:
    _open_try(server, page)
    delay = Delay(page, "/try/")
    page.get_by_role("button", name="Call for real", exact=True).click()
    delay.sent()

    with page.expect_response(lambda answer: answer.url.endswith("/check/")):
        page.evaluate("studio.rows.add('inputs', { name: 'later' })")
    page.get_by_role("button", name="Dry run").click()
    delay.release()

    # The form follows the page, and what the call answered stays.
    page.locator("[data-dock-try] [name=body__later]").wait_for()
    assert page.locator("[data-dock-try] [data-status]").inner_text() == "200"
    assert page.locator("[data-dock-try] [name=body__name]").input_value() == "Contoso"


def test_whoever_types_a_query_before_the_rows_are_there_goes_on_typing(server: Server, page: Page) -> None:
    delay = Delay(page, "/admin/metadata/")
    sign_in(page, server.url, "/admin/queries/new/")
    delay.sent()
    text = page.locator("textarea[data-fetchxml]")
    text.focus()
    page.keyboard.insert_text('<fetch><entity name="account"></fetch>')
    for _ in "</fetch>":
        page.keyboard.press("ArrowLeft")

    delay.release()
    page.locator(".studio-query").wait_for()
    page.keyboard.insert_text("</entity>")

    assert text.input_value() == '<fetch><entity name="account"></entity></fetch>'
    page.get_by_label("Entity", exact=True).first.wait_for()
