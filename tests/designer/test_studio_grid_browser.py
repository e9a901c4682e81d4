"""The grid of inputs and entity properties: by keyboard as a spreadsheet, and pasted from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.designer.create_page import open_create
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

_PASTE = """(field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
# What the form of the page would send, by name.
_SENT = """() => [...new FormData(document.querySelector("#content-main form"))]
    .map(([name, value]) => `${name}=${value}`).sort()"""
_STICKY = """() => [...document.querySelectorAll("body *")]
    .filter((node) => ["fixed", "sticky"].includes(getComputedStyle(node).position) && node.checkVisibility())
    .map((node) => node.getBoundingClientRect())
    .map(({ top, bottom }) => Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)))
    .reduce((sum, height) => sum + height, 0)"""


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


@pytest.fixture
def endpoint(server: Server, page: Page) -> Page:
    """The page of the demo's create, as designer: six inputs, five of them bound."""
    return open_create(server, page)


def test_a_row_shows_the_input_and_the_attribute_it_fills_and_both_follow_its_name(endpoint: Page) -> None:
    phone = endpoint.locator("[data-row=inputs-1]")
    assert phone.get_by_role("combobox", name="Attribute").input_value() == "Main Phone (telephone1)"
    phone.locator("[name=inputs-1-name]").fill("telephone")
    assert phone.locator("[name=bindings-1-value_text]").input_value() == "telephone"
    saved(endpoint)
    endpoint.goto(endpoint.url)
    phone = endpoint.locator("[data-row=inputs-1]")
    assert phone.locator("[name=inputs-1-name]").input_value() == "telephone"
    assert phone.get_by_role("combobox", name="Attribute").input_value() == "Main Phone (telephone1)"


def test_cells_are_left_by_arrows_and_enter_and_the_last_row_adds_one(endpoint: Page) -> None:
    endpoint.locator("[name=inputs-0-name]").focus()
    press(endpoint, "ArrowDown", "ArrowDown", "Enter")
    assert focused(endpoint) == "inputs-3-name"
    press(endpoint, "Control+ArrowRight")
    assert focused(endpoint) == "inputs-3-type"
    press(endpoint, "Control+ArrowUp", "Control+ArrowRight", "ArrowDown", "ArrowLeft", "Control+ArrowLeft")
    assert focused(endpoint) == "inputs-3-name"
    press(endpoint, "Control+ArrowDown", "Control+ArrowDown", "Enter")
    assert focused(endpoint) == "inputs-6-name"
    endpoint.keyboard.type("website")
    press(endpoint, "Tab", "Tab", "Space", "Tab")
    endpoint.keyboard.type("websiteurl")
    press(endpoint, "Enter")
    added = endpoint.locator("[data-row=inputs-6]")
    assert added.locator("[name=inputs-6-required]").is_checked()
    assert added.locator("[name$=-attribute]").input_value() == "websiteurl"
    assert added.locator("[name$=-value_text]").input_value() == "website"
    # The row that has just been added is still empty: there is no need for a second.
    endpoint.locator("[name=inputs-6-name]").focus()
    press(endpoint, "Enter", "Enter", "Enter")
    assert endpoint.locator("[data-rows=inputs] > [data-list] > [data-row]").count() == 8
    saved(endpoint)


def test_rows_are_pasted_from_a_spreadsheet_and_can_be_undone(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add input").click()
    table = (
        "Name\tType\tRequired\tBound to\tDescription\n"
        "website\tString\tyes\twebsiteurl\tWhere it is\n"
        "staff\tinteger\tno\tNumber of Employees\t\n"
    )
    endpoint.locator("[name=inputs-6-name]").evaluate(_PASTE, table)
    rows = endpoint.locator("[data-row=inputs-6], [data-row=inputs-7]")
    rows.nth(1).wait_for()
    assert [row_of(row) for row in rows.all()] == [
        ("website", "String", True, "websiteurl", "Where it is"),
        ("staff", "Integer", False, "numberofemployees", ""),
    ]
    endpoint.get_by_role("button", name="Undo").click()
    assert not rows.nth(1).is_visible()
    assert endpoint.locator("[name=inputs-6-name]").input_value() == ""
    endpoint.locator("[name=inputs-6-name]").evaluate(_PASTE, table)
    saved(endpoint)
    endpoint.goto(endpoint.url)
    assert endpoint.locator("[name=inputs-7-name]").input_value() == "staff"


def test_a_cell_of_several_lines_is_pasted_as_one_cell(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add input").click()
    table = (
        'Name\tType\tDescription\nwebsite\tString\t"Where it is,\nas ""https"""\nstaff\tInteger\t"a" or b\n'
    )
    endpoint.locator("[name=inputs-6-name]").evaluate(_PASTE, table)
    rows = endpoint.locator("[data-row=inputs-6], [data-row=inputs-7], [data-row=inputs-8]")
    rows.nth(1).wait_for()
    described = [row.locator("[name$=-description]").input_value() for row in rows.all()]
    assert described == ['Where it is,\nas "https"', '"a" or b']


def test_a_value_of_several_lines_is_kept_and_edited(endpoint: Page) -> None:
    for source, text in (("constant", "One\nTwo"), ("expression", "'a' +\n'b'")):
        endpoint.get_by_role("button", name="Add entity property").click()
        row = endpoint.locator("[data-row^=bindings-]").last
        row.locator("[name$=-source]").select_option(source)
        choose_attribute(row, "description" if source == "constant" else "fax")
        first, second = text.split("\n")
        row.locator("[id$=_editor]").fill(first)
        # Enter goes to the next cell, as in a spreadsheet.
        press(endpoint, "Alt+Enter")
        endpoint.keyboard.type(second)
        assert row.locator("[name$=-value_text]").input_value() == text
    for texts in (["One\nTwo", "'a' +\n'b'"], ["One\nTwo\nThree", "'a' +\n'b' +\n'c'"]):
        rows = endpoint.locator("[data-row^=bindings-]").all()[-2:]
        for row, text in zip(rows, texts, strict=True):
            if row.locator("[id$=_editor]").input_value() != text:
                row.locator("[id$=_editor]").fill(text)
        for _time in range(2):
            saved(endpoint)
            endpoint.goto(endpoint.url)
            rows = endpoint.locator("[data-row^=bindings-]").all()[-2:]
            for part in ("[id$=_editor]", "[name$=-value_text]"):
                assert [row.locator(part).input_value() for row in rows] == texts


def test_a_value_that_its_editor_cannot_show_stays_a_text(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add entity property").click()
    row = endpoint.locator("[data-row^=bindings-]").last
    row.locator("[name$=-source]").select_option("constant")
    for attribute, text in (("new_customersince", "1 May"), ("new_interests", "[1, x]"), ("fax", "1\n2")):
        row.locator("[name$=-value_text]").evaluate("(field, text) => studio.set(field, text)", text)
        choose_attribute(row, attribute)
        assert row.locator("[id$=_editor]").input_value() == text
    # An option that the platform does not have any more.
    row.locator("[name$=-value_text]").evaluate("field => studio.set(field, '[100000000, 7]')")
    choose_attribute(row, "new_interests")
    row.locator("[id$=_editor]").select_option(["100000000", "100000001", "7"])
    assert row.locator("[name$=-value_text]").input_value() == "[100000000, 100000001, 7]"


def test_an_attribute_is_taken_off_an_input_and_put_back(endpoint: Page) -> None:
    phone = endpoint.locator("[data-row=inputs-1]")
    phone.get_by_role("combobox", name="Attribute").fill("")
    assert endpoint.locator("[name=bindings-1-DELETE]").is_checked()
    endpoint.keyboard.type("fax")
    endpoint.keyboard.press("Enter")
    assert phone.locator("[name=bindings-5-attribute]").input_value() == "fax"
    saved(endpoint)
    endpoint.goto(endpoint.url)
    phone = endpoint.locator("[data-row=inputs-1]")
    assert phone.get_by_role("combobox", name="Attribute").input_value() == "Fax (fax)"


def test_a_removed_input_takes_its_property_along_and_back(endpoint: Page) -> None:
    phone = endpoint.locator("[data-row=inputs-1]")
    phone.get_by_label("Remove").click()
    assert endpoint.locator("[name=bindings-1-DELETE]").is_checked()
    phone.get_by_role("button", name="Keep it after all").click()
    assert not endpoint.locator("[name=bindings-1-DELETE]").is_checked()


def test_a_type_shows_only_the_settings_that_it_has(endpoint: Page) -> None:
    phone = endpoint.locator("[data-row=inputs-1]")
    phone.get_by_label("More settings").click()
    assert phone.get_by_label("Maximum length").is_visible()
    assert not phone.get_by_label("Minimum", exact=True).is_visible()
    phone.locator("[name=inputs-1-max_length]").fill("")
    phone.locator("[name=inputs-1-type]").select_option("Integer")
    assert phone.get_by_label("Minimum", exact=True).is_visible()
    assert not phone.get_by_label("Maximum length").is_visible()


def test_a_row_sends_the_same_before_and_after_it_is_unfolded(endpoint: Page) -> None:
    phone = unfolded(endpoint, "inputs-1")
    texts = {
        "description": 'Of the <b>office</b>,\nwith "country" & area',
        "pattern": "[+0-9 ]+",
        "max_length": "40",
    }
    for name, text in texts.items():
        phone.locator(f"[name$=-{name}]").fill(text)
    phone.locator("[name$=-nullable]").set_checked(not phone.locator("[name$=-nullable]").is_checked())
    saved(endpoint)
    endpoint.goto(endpoint.url)
    before = endpoint.evaluate(_SENT)
    for row in endpoint.locator("[data-rows=inputs] > [data-list] > [data-row]").all():
        row.locator("[data-unfold]").first.click()
    for name, text in texts.items():
        assert endpoint.locator(f"[name=inputs-1-{name}]").input_value() == text
    assert endpoint.evaluate(_SENT) == before


def test_what_is_typed_into_an_unfolded_row_outlives_folding_and_a_refusal(endpoint: Page) -> None:
    phone = unfolded(endpoint, "inputs-1")
    phone.locator("[name$=-description]").fill("Typed,\nthen folded")
    phone.get_by_label("More settings").click()
    assert not phone.locator("[name$=-description]").is_visible()
    other = unfolded(endpoint, "inputs-2")
    other.locator("[name$=-label]").fill("Also typed")
    endpoint.locator("[name=inputs-0-name]").fill("1 x")
    endpoint.get_by_role("button", name="Save and continue editing").click()
    endpoint.locator("[data-findings=inputs-0-name], [data-errors-of=inputs-0-name]").first.wait_for()
    endpoint.locator("[name=inputs-0-name]").fill("name")
    saved(endpoint)
    endpoint.goto(endpoint.url)
    assert (
        unfolded(endpoint, "inputs-1").locator("[name$=-description]").input_value() == "Typed,\nthen folded"
    )
    assert unfolded(endpoint, "inputs-2").locator("[name$=-label]").input_value() == "Also typed"


def test_a_finding_about_what_a_row_unfolds_stands_at_its_field(endpoint: Page) -> None:
    finding = endpoint.locator("[data-row=inputs-1] [data-findings=inputs-1-max_length] .finding")
    assert not finding.count()
    # Another attribute, which holds fewer characters than the input.
    endpoint.locator("[data-row=inputs-1] [id$=-attribute_search]").fill("address1_postalcode")
    endpoint.keyboard.press("Enter")
    finding.wait_for(state="attached")
    unfolded(endpoint, "inputs-1").get_by_role("button", name="Fix: Set the limit to 20").click()
    assert endpoint.locator("[name=inputs-1-max_length]").input_value() == "20"


def unfolded(page: Page, row: str) -> Locator:
    """The row of an input, which has just been unfolded."""
    found = page.locator(f"[data-row={row}]")
    found.get_by_label("More settings").click()
    return found


def test_sticky_parts_take_a_tenth_of_a_small_screen_and_leave_the_focus_free(endpoint: Page) -> None:
    endpoint.set_viewport_size({"width": 390, "height": 844})
    endpoint.evaluate("window.scrollTo(0, 1500)")
    assert endpoint.evaluate(_STICKY) <= 84.4
    endpoint.locator("#id_why").focus()
    field, bar = endpoint.locator("#id_why").bounding_box(), endpoint.locator("#submit-row").bounding_box()
    assert field is not None
    assert bar is not None
    assert field["y"] + field["height"] <= bar["y"]


def test_the_bar_that_saves_fits_a_small_screen_and_opens_what_it_has_no_room_for(endpoint: Page) -> None:
    endpoint.set_viewport_size({"width": 390, "height": 844})
    # The header, too: what the page is, and not the beginning of the way to it.
    assert [
        part.inner_text() for part in endpoint.locator("#header-inner h1 > *").all() if part.is_visible()
    ] == ["Create an account"]
    # Unfold's later releases lay a backdrop before it.
    bar = endpoint.locator("#submit-row > div > div:last-child")
    assert bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth")
    delete = endpoint.get_by_role("link", name="Delete endpoint")
    assert not delete.is_visible()
    bar.get_by_role("button", name="Actions").click()
    assert delete.is_visible()
    box = delete.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= 390 - box["width"]
    endpoint.keyboard.press("Escape")
    assert not delete.is_visible()


def choose_attribute(row: Locator, attribute: str) -> None:
    row.locator("[id$=-attribute_search]").fill(attribute)
    row.page.keyboard.press("Enter")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.name"))


def row_of(row: Locator) -> tuple[str, str, bool, str, str]:
    name, kind, attribute, description = (
        row.locator(f"[name$=-{field}]").input_value()
        for field in ("name", "type", "attribute", "description")
    )
    return name, kind, row.locator("[name$=-required]").is_checked(), attribute, description


def saved(page: Page) -> None:
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_text("was changed successfully").wait_for()
