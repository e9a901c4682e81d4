"""What a page shows where there is little room: on a telephone, and beside the preview of an endpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser import follow, sign_in
from tests.designer.create_page import open_create
from tests.designer.walking import TELEPHONE
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

# The tables of which a part lies beyond the edge of what is seen.
_CUT_OFF = """() => [...document.querySelectorAll(".studio-scroll")]
    .filter((node) => node.scrollWidth > node.clientWidth + 1)
    .map((node) => node.querySelector("thead").innerText)"""
# Pieces of words, where a text is broken in the middle of one: a letter on either side of the line's end.
_BROKEN = """(selector) => [...document.querySelectorAll(selector)].filter((node) => {
    const range = document.createRange(), walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        let last = null;
        for (let at = 0; at < text.data.length; at += 1) {
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            const { top } = range.getBoundingClientRect();
            const isInWord = /[\\w{}]{2}/.test(text.data.slice(at - 1, at + 1));
            if (last !== null && top > last + 4 && isInWord) return true;
            last = top;
        }
    }
    return false;
}).map((node) => node.innerText)"""


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


def _narrow(page: Page) -> None:
    width, height = TELEPHONE
    page.set_viewport_size({"width": width, "height": height})


def test_tables_of_numbers_are_read_whole_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/proposals/new/", "admin")
    page.get_by_label("Title", exact=True).fill("A proposal with a title of several words")
    page.get_by_label("Module", exact=True).select_option("sales")
    follow(page.get_by_role("button", name="Open the proposal"))
    _narrow(page)
    for path in ("usage/", "attributes/", "proposals/", "platform/budget/", "caller-rights/?account=rep"):
        page.goto(f"{server.url}/admin/{path}")
        assert page.evaluate(_CUT_OFF) == [], path
        assert page.evaluate(_BROKEN, "tbody th, tbody td") == [], path
    page.goto(f"{server.url}/admin/usage/")
    cell = page.locator("tbody td.number").first
    assert cell.evaluate("(node) => getComputedStyle(node, '::before').content") == '"Calls, last day"'


def test_the_path_of_an_endpoint_breaks_before_a_slash(server: Server, page: Page) -> None:
    open_create(server, page)
    path = page.locator("[data-path]")
    assert path.inner_html() == "POST /api<wbr>/sales<wbr>/accounts"
    # The script that judges the page as it is typed writes the path anew.
    page.get_by_label("Segment").fill("of-somebody")
    page.locator("[data-path]", has_text="of-somebody").wait_for()
    assert path.inner_html() == "POST /api<wbr>/sales<wbr>/of-somebody"


def test_what_blocks_an_endpoint_stands_below_the_sentence_about_it(server: Server, page: Page) -> None:
    open_create(server, page)
    assert page.locator("[data-verdict] ~ [data-findings='']").count() == 1


def test_a_long_text_is_read_whole_on_a_telephone(server: Server, page: Page) -> None:
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    sign_in(page, server.url, "/admin/releases/new/", "admin")
    page.get_by_label("Changelog").fill(word)
    follow(page.get_by_role("button", name="Make the release"))
    page.goto(f"{server.url}/admin/designer/role/add/")
    page.get_by_label("Name").fill("a-" + "donaudampfschifffahrtsgesellschaft-"[:30] * 2)
    follow(page.get_by_role("button", name="Save", exact=True))
    _narrow(page)
    for path in ("releases/", "audit/"):
        page.goto(f"{server.url}/admin/{path}")
        assert page.evaluate(_CUT_OFF) == [], path


def test_a_box_that_selects_a_row_lies_beside_its_text_on_a_telephone(server: Server, page: Page) -> None:
    """Also where no cell of the row is a link."""
    server.request("POST", "/api/token", json={"username": "rep", "password": "wrong"})
    sign_in(page, server.url, "/admin/runtime/failedlogins/", "admin")
    _narrow(page)
    row = page.locator("#result_list tbody tr", has_text="every account")
    box = row.locator("input[type=checkbox]").bounding_box()
    text = row.evaluate(
        """row => {
            const range = document.createRange();
            range.selectNodeContents(row.querySelector(".field-whose"));
            return range.getBoundingClientRect().right;
        }"""
    )
    assert box is not None
    assert text <= box["x"]


def test_the_matrix_shows_a_column_beside_the_paths_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/matrix/")
    _narrow(page)
    table = page.locator(".studio-scroll:has(> .studio-matrix)")
    cell = table.locator("tbody tr:not(.studio-rule) td").first.bounding_box()
    around = table.bounding_box()
    assert cell is not None
    assert around is not None
    assert cell["x"] + cell["width"] <= around["x"] + around["width"]


def test_the_fields_of_a_filter_are_of_one_width_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/audit/", "admin")
    _narrow(page)
    edges = page.locator("form .studio-input").evaluate_all(
        """nodes => nodes.map((node) => node.getBoundingClientRect())
            .map(({ left, right }) => `${left} ${right}`)"""
    )
    assert len(edges) == 3
    assert len(set(edges)) == 1


def test_what_is_deleted_together_is_read_whole_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/", "admin")
    for box in page.locator("#result_list .action-select").all()[:3]:
        box.check()
    page.locator("select[name=action]").select_option("delete_selected")
    follow(page.get_by_role("button", name="Run", exact=True))
    page.get_by_text("3 endpoints are deleted").wait_for()
    _narrow(page)
    assert page.evaluate(_CUT_OFF) == []
    assert page.evaluate(_BROKEN, "tbody th, tbody td") == []


def test_a_plan_is_read_whole_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/import/", "admin")
    document = page.context.request.get(f"{server.url}/admin/export/document/").json()
    for endpoint in document["endpoints"]:
        for asked in endpoint.get("inputs", ())[:1]:
            asked["max_length"] = 3
    content = json.dumps(document).encode()
    page.set_input_files(
        "input[name=document]", {"name": "a.json", "mimeType": "application/json", "buffer": content}
    )
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_text("Endpoints that may answer differently").wait_for()
    _narrow(page)
    assert page.evaluate(_CUT_OFF) == []


def test_try_it_is_offered_once_at_every_width(server: Server, page: Page) -> None:
    endpoint = open_create(server, page)
    for width, is_beside in ((TELEPHONE[0], False), (1279, False), (1280, True), (1920, True)):
        endpoint.set_viewport_size({"width": width, "height": 900})
        named = endpoint.locator("a, button").filter(has_text="Try it", visible=True)
        assert named.count() == 1
        assert endpoint.get_by_role("tab", name="Try it").is_visible() is is_beside


def test_a_column_of_an_attribute_is_two_fields_high_on_a_telephone(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/", "admin")
    follow(page.locator("nav .studio-leaf[title^='/api/sales/accounts/{id}:']", has_text="Read"))
    _narrow(page)
    rows = page.locator(".studio-rows-columns [data-row]:visible")
    for number in range(rows.count()):
        assert rows.nth(number).locator(".studio-field:visible").count() == 2
    # A new column may be of an attribute or calculated.
    page.get_by_role("button", name="Add column").click()
    expression = rows.last.get_by_label("Expression")
    expression.fill("1 + 1")
    assert expression.is_visible()


# Whether the first letter of the name stands inside of everything that cuts the name off.
_BEGINNING_SHOWN = """(name) => {
    const heading = document.querySelector("#header-inner h1");
    const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
    let text = walker.nextNode();
    while (!text.data.includes(name)) text = walker.nextNode();
    const range = document.createRange(), at = text.data.indexOf(name);
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const letter = range.getBoundingClientRect();
    for (let around = text.parentElement; around; around = around.parentElement) {
        const { left, right, bottom } = around.getBoundingClientRect();
        const cuts = getComputedStyle(around).overflowX !== "visible";
        if (cuts && (letter.left < left || letter.right > right || letter.top > bottom)) return false;
    }
    return true;
}"""


@pytest.mark.parametrize("width", [TELEPHONE[0], 1024, 1440])
def test_a_long_latin_name_loses_its_end_in_an_arabic_header(server: Server, page: Page, width: int) -> None:
    name = "Beginning of a name " + "of many words " * 12
    endpoint = open_create(server, page)
    endpoint.get_by_label("Title", exact=True).fill(name)
    follow(endpoint.get_by_role("button", name="Save and continue editing"))
    addresses = [page.url]
    page.goto(f"{server.url}/admin/designer/module/")
    follow(page.locator("#result_list tbody th a").first)
    page.get_by_label("Title", exact=True).fill(name)
    follow(page.get_by_role("button", name="Save and continue editing"))
    addresses.append(page.url)
    # A kind of several words stands before the name.
    follow(page.locator("nav .studio-leaf[title^='/api/sales/queries/accounts:']"))
    page.get_by_label("Title", exact=True).fill(name)
    follow(page.get_by_role("button", name="Save and continue editing"))
    addresses.append(page.url)
    page.context.add_cookies([{"name": "django_language", "value": "ar", "url": server.url}])
    page.set_viewport_size({"width": width, "height": 900})
    for address in addresses:
        page.goto(address)
        assert page.locator("html[dir=rtl]").count() == 1
        assert page.evaluate(_BEGINNING_SHOWN, "Beginning"), address
        heading, header = page.locator("#header-inner h1"), page.locator("#header-inner")
        (lines, around) = (node.bounding_box() for node in (heading, header))
        assert lines is not None
        assert around is not None
        assert lines["height"] <= around["height"], address
