"""First steps in the studio: where one begins, slips of the finger, the path before one's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import sign_in
from tests.servers import Server, Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

LINKED = """<fetch><entity name="account"><attribute name="address1_city"/>
  <link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="mainContact">
    <attribute name="fullname"/>
  </link-entity>
</entity></fetch>"""
_FOCUSED = "() => document.activeElement.id"


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running studio. No test saves anything in it."""
    with copied(_prepared, tmp_path_factory.mktemp("first_steps") / "data", "first_steps") as site:
        yield site.start()


def test_a_slip_of_the_finger_still_finds_the_entity(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/expose/")
    # The page begins at its first question.
    page.wait_for_function(f"() => ({_FOCUSED})() === 'id_entity_search'")
    for typed in ("oportunty", "oppotrunity", "opportunnity"):
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
        first = page.get_by_role("option").first
        assert first.inner_text().strip() == "Opportunity (opportunity)"
    page.keyboard.press("Control+a")
    page.keyboard.type("xyzzy")
    assert page.get_by_role("option").count() == 0
    page.locator(".studio-choices").get_by_text("Nothing found.").wait_for()


def test_the_path_is_made_before_ones_eyes_and_a_new_module_is_told(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/expose/?entity=opportunity")
    line = page.locator("[data-new-path]")
    assert line.inner_text().strip() == "/api/sales/opportunities"
    page.locator("#id_segment").fill("deals")
    page.locator("#id_module").fill("sles")
    assert line.locator("code").inner_text() == "/api/sles/deals"
    assert "This module is new." in line.inner_text()
    page.locator("#id_module").fill("service")
    assert line.inner_text().strip() == "/api/service/deals"


def test_a_form_that_was_refused_begins_at_the_field_to_be_corrected(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/expose/?entity=opportunity")
    page.locator("#id_segment").fill("My Deals!")
    with page.expect_navigation():
        page.get_by_role("button", name="Expose", exact=True).click()
    page.wait_for_function(f"() => ({_FOCUSED})() === 'id_segment'")


def test_a_query_is_named_while_it_is_made(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    page.wait_for_function(f"() => ({_FOCUSED})() === 'id_query_entity_search'")
    page.keyboard.type("contact")
    page.keyboard.press("Enter")
    path = page.locator("[data-new-path] code")
    path.get_by_text("GET /api/sales/queries/contacts").wait_for()
    # There is a query of this name in another module.
    page.locator("#id_module").fill("portal")
    page.locator("#id_name").fill("people")
    assert path.inner_text() == "GET /api/portal/queries/people"


def test_an_at_sign_in_a_calendar_means_a_parameter(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    page.locator("#id_query_entity_search").wait_for()
    text = page.locator("#id_query")
    page.locator("#id_query_entity_search").fill("contact")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="+ Condition").click()
    page.wait_for_function("() => document.activeElement.ariaLabel === 'Attribute'")
    page.keyboard.type("Created On")
    page.keyboard.press("Enter")
    day = page.locator(".studio-condition input[type=date]")
    day.focus()
    # The whole day can be read.
    assert day.evaluate("field => field.scrollWidth <= field.clientWidth")
    page.keyboard.type("@")
    page.wait_for_function("() => document.activeElement.value === '@'")
    page.keyboard.type("since")
    page.get_by_text("Parameters: since (DateTime)").wait_for()
    assert 'value="@since"' in text.input_value()


def test_a_column_shows_the_name_that_callers_get(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    page.locator("#id_query_entity_search").wait_for()
    page.locator("textarea").focus()
    page.keyboard.insert_text(LINKED)
    names = page.get_by_label("Output name")
    names.nth(1).wait_for()
    assert [names.nth(at).get_attribute("placeholder") for at in (0, 1)] == [
        "address1City",
        "mainContactFullname",
    ]


def test_a_new_entry_of_a_row_rule_gets_the_focus(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/matrix/")
    with page.expect_navigation():
        page.get_by_role("link", name="sales/accounts", exact=True).click()
    page.get_by_text("Add row rule entry").click()
    page.wait_for_function("() => document.activeElement.name === 'row_rule-0-callers'")
