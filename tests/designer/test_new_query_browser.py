"""A query with two parameters, from login to served: pasted, and made in rows. Clicks are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.hand import Hand
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# docs/studio.md names these numbers. Choosing from a list counts two.
PASTED, IN_ROWS = 5, 14
QUERY = """<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="false">
  <entity name="contact">
    <attribute name="fullname"/>
    <order attribute="fullname" descending="false"/>
    <filter type="and">
      <condition attribute="fullname" operator="contains" value="@topic"/>
      <condition attribute="createdon" operator="on-or-after" value="@since"/>
    </filter>
  </entity>
</fetch>"""


def _open_new_query(hand: Hand, server: Server) -> None:
    hand.log_in(server)
    hand.click(hand.page.get_by_role("link", name="New query", exact=True))
    hand.page.locator("#id_query_entity_search").wait_for()


def _create(hand: Hand) -> None:
    hand.click(hand.page.get_by_label("Sales representative (sales-rep)"))
    hand.click(hand.page.get_by_role("button", name="Create", exact=True))
    hand.page.locator("[data-state]").get_by_text("Ready").wait_for()


def _answer(server: Server, page: Page, query: str) -> int:
    path = page.locator("[data-path]").inner_text().removeprefix("GET ")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    return server.request("GET", f"{path}?{query}", headers=headers).status_code


def test_a_pasted_query_is_served(site: Site, page: Page) -> None:
    server, hand = site.start(), Hand(page)
    _open_new_query(hand, server)
    hand.click(page.locator("textarea"))
    page.keyboard.insert_text(QUERY)
    page.get_by_text("Parameters: topic (String), since (Date)").wait_for()
    _create(hand)
    assert hand.clicks == PASTED
    assert _answer(server, page, "topic=a&since=2020-01-01") == 200
    assert _answer(server, page, "since=yesterday") == 400


def test_a_query_made_in_rows_is_served(site: Site, page: Page) -> None:
    server, hand = site.start(), Hand(page)
    _open_new_query(hand, server)
    hand.choose(page.locator("#id_query_entity_search"), "contact")
    for name in ("fullname", "createdon"):
        hand.click(page.get_by_role("button", name="+ Condition"))
        attribute = page.get_by_label("Attribute", exact=True).last
        page.wait_for_function("() => document.activeElement.ariaLabel === 'Attribute'")
        hand.choose(attribute, name)
        hand.click(page.get_by_role("button", name="From the caller").last)
        page.wait_for_function("() => document.activeElement.value?.startsWith('@')")
    _create(hand)
    assert hand.clicks == IN_ROWS
    assert _answer(server, page, "fullname=Nobody") == 200
