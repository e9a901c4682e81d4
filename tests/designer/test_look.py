"""What the studio asks of its look. Which release is installed depends on the version of Python."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.forms import Textarea
from django.test import RequestFactory

from designer.studio.look import TextArea
from tests.browser import follow, sign_in
from tests.designer.create_page import open_create
from tests.servers import ROOT, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

_TAG = re.compile(r"\{[%{#].*?[%}#]\}", re.DOTALL)
_CLASSES = re.compile(r'(?<!:)\bclass="([^"]*)"')
_SELECTOR = re.compile(r"\.((?:\\.|[\w-])+)")
_TEXT = re.compile(r'"([^"\n]*)"')
_OWN_STYLES = [f"designer/{name}.css" for name in ("studio", "shell", "pages", "endpoint", "rtl")]
_TEMPLATES = (ROOT / "designer" / "templates", ROOT / "designer" / "overrides")


def _text(path: str) -> str:
    file = finders.find(path)
    assert isinstance(file, str)
    return Path(file).read_text(encoding="utf-8")


def _styled(path: str) -> set[str]:
    return {re.sub(r"\\(.)", r"\1", name) for name in _SELECTOR.findall(_text(path))}


def _looked_for(path: str) -> set[str]:
    """The classes in the texts of a script, which are its selectors."""
    return {name for text in _TEXT.findall(_text(path)) for name in _SELECTOR.findall(text)}


def test_every_class_that_templates_borrow_means_something_to_the_look() -> None:
    known = _styled("unfold/css/styles.css").union(*map(_styled, _OWN_STYLES))
    # A template of the look that the studio replaces may have classes that the studio's scripts look for.
    known |= _looked_for("unfold/js/app.js") | _looked_for("designer/shell.js")
    missing = {
        name: template.name
        for folder in _TEMPLATES
        for template in folder.rglob("*.html")
        for classes in _CLASSES.findall(_TAG.sub(" ", template.read_text(encoding="utf-8")))
        for name in classes.split()
        # Beginnings of names go on in a tag; the studio's own may be there for its scripts.
        if name not in known and not name.endswith("-") and not name.startswith("studio-")
    }
    assert missing == {}


@pytest.fixture
def studio(site: Site, page: Page) -> Page:
    """The studio's first page, as designer."""
    sign_in(page, site.start().url)
    page.locator("#nav-sidebar").wait_for(state="attached")
    return page


@pytest.mark.processes
@pytest.mark.browser
def test_the_sidebar_stands_beside_the_page_or_opens_over_it(studio: Page) -> None:
    sidebar, main = studio.locator("#nav-sidebar"), studio.locator("#main")

    def edges() -> tuple[float, float]:
        beside, content = sidebar.bounding_box(), main.bounding_box()
        assert beside is not None
        assert content is not None
        return beside["x"] + beside["width"], content["x"]

    end, start = edges()
    assert end <= start
    studio.get_by_role("button", name="Show or hide the sidebar").click()
    sidebar.wait_for(state="hidden")
    studio.reload()
    sidebar.wait_for(state="hidden")
    studio.get_by_role("button", name="Show or hide the sidebar").click()
    sidebar.wait_for()

    studio.set_viewport_size({"width": 390, "height": 844})
    sidebar.wait_for(state="hidden")
    studio.get_by_role("button", name="Show or hide the sidebar").click()
    sidebar.wait_for()
    assert edges()[1] == 0
    studio.keyboard.press("Escape")
    sidebar.wait_for(state="hidden")


@pytest.mark.processes
@pytest.mark.browser
def test_a_login_is_typed_without_a_click_though_styles_come_late(site: Site, page: Page) -> None:
    def late(route: Route) -> None:
        time.sleep(0.3)
        route.continue_()

    page.route("**/*.css", late)
    page.goto(f"{site.start().url}/admin/")
    page.keyboard.type("designer")
    assert page.locator("[name=username]").input_value() == "designer"


@pytest.mark.processes
@pytest.mark.browser
def test_a_letter_chooses_in_a_list_and_does_nothing_else(studio: Page) -> None:
    studio.get_by_text("All endpoints").click()
    studio.get_by_text("POST /api/sales/accounts", exact=True).click()
    studio.locator("#section-inputs").wait_for()
    address = studio.url
    studio.locator("[name=inputs-0-type]").focus()
    for key in ("c", "f", "[", "?"):
        studio.keyboard.press(key)
    assert studio.url == address
    assert studio.locator("#nav-sidebar").is_visible()
    assert studio.get_by_text("Available shortcuts").count() == 0
    studio.keyboard.press("Control+k")
    studio.locator("#studio-palette-list a").first.wait_for()
    palette = studio.locator("[role=dialog], dialog[open]")
    assert palette.count() == 1
    box, window = palette.bounding_box(), studio.viewport_size
    assert box is not None
    assert window is not None
    assert abs(box["x"] - (window["width"] - box["width"]) / 2) <= 1
    assert 0 < box["y"] < window["height"] / 4


@pytest.mark.processes
@pytest.mark.browser
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_a_dialog_stands_in_the_middle_of_the_window(site: Site, page: Page, is_dark: bool) -> None:
    endpoint = open_create(site.start(), page)
    if is_dark:
        endpoint.evaluate("document.documentElement.classList.add('dark')")
    endpoint.get_by_role("button", name="Add from attributes…").first.click()
    box, window = endpoint.locator("#attribute-dialog").bounding_box(), endpoint.viewport_size
    assert box is not None
    assert window is not None
    assert box["width"] <= 704
    assert abs(box["x"] - (window["width"] - box["width"]) / 2) <= 1
    assert abs(box["y"] - (window["height"] - box["height"]) / 2) <= 1


@pytest.mark.processes
@pytest.mark.browser
def test_the_label_of_a_narrow_list_begins_its_line_from_right_to_left(site: Site, page: Page) -> None:
    server = site.start()
    sign_in(page, server.url)
    page.context.add_cookies([{"name": "django_language", "value": "ar", "url": server.url}])
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/admin/designer/module/")
    cell = page.locator("#result_list td.field-title").first
    if cell.evaluate("cell => getComputedStyle(cell, '::before').content") == "none":
        # A newer release of the look has a table here, which says the label above.
        assert page.get_by_role("columnheader", name="العنوان").is_visible()
        return
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').marginRight") == "0px"
    assert cell.evaluate("cell => parseFloat(getComputedStyle(cell, '::before').marginLeft)") > 0


@pytest.mark.processes
@pytest.mark.browser
def test_latin_texts_lie_below_the_head_of_their_column_from_right_to_left(site: Site, page: Page) -> None:
    server = site.start()
    sign_in(page, server.url, "/admin/releases/new/", "admin")
    page.get_by_label("Changelog").fill("What callers have to know.")
    follow(page.get_by_role("button", name="Make the release"))
    page.context.add_cookies([{"name": "django_language", "value": "ar", "url": server.url}])
    ends = """([one, other]) => [one, other].map((selector) => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector(selector));
        return range.getBoundingClientRect().right;
    })"""
    for path, head, text in (
        ("releases/", "thead th:last-child", "tbody td:last-child"),
        ("audit/", "thead th:nth-child(4)", "tbody td:nth-child(4)"),
        ("view-as/", ".studio-operations a", ".studio-operations code + code"),
    ):
        page.goto(f"{server.url}/admin/{path}")
        one, other = page.evaluate(ends, [head, text])
        assert one == pytest.approx(other, abs=1), path
    page.goto(f"{server.url}/admin/audit/")
    assert page.locator("tbody time").first.evaluate("node => getComputedStyle(node).direction") == "ltr"


@pytest.mark.processes
@pytest.mark.browser
def test_of_many_attributes_those_are_shown_that_have_the_words(studio: Page) -> None:
    studio.goto(studio.url.split("/admin/")[0] + "/admin/expose/?entity=contact")
    attributes = studio.get_by_role("group", name="Attributes")
    ticked = attributes.locator("input:checked").count()
    assert attributes.get_by_text("(fullname)").is_visible()
    attributes.get_by_role("searchbox", name="Search attributes").fill("phone mob")
    attributes.get_by_text("(fullname)").wait_for(state="hidden")
    assert attributes.get_by_text("(mobilephone)").is_visible()
    studio.keyboard.press("Enter")
    assert attributes.get_by_text("(mobilephone)").is_visible()
    assert attributes.locator("input:checked").count() == ticked > 0


@pytest.mark.processes
@pytest.mark.browser
def test_a_slash_goes_to_the_search_of_a_list(studio: Page) -> None:
    studio.get_by_text("All endpoints").click()
    studio.locator("#searchbar").wait_for()
    studio.keyboard.press("/")
    studio.keyboard.type("a/b")
    assert studio.locator("#searchbar").input_value() == "a/b"


def test_every_text_area_of_the_admin_takes_line_ends_as_browsers_send_them(portico: None) -> None:
    request = RequestFactory().get("/")
    request.user = get_user_model().objects.create_superuser("root")
    areas = {}
    for model, pages in admin.site._registry.items():
        inlines = pages.get_inline_instances(request)
        for form in (
            pages.get_form(request),
            *(inline.get_formset(request).form for inline in inlines),
        ):
            for name, field in form.base_fields.items():
                if isinstance(field.widget, Textarea):
                    areas[model.__name__, form.__name__, name] = type(field.widget)
    assert len(areas) > 5
    assert {place: widget for place, widget in areas.items() if not issubclass(widget, TextArea)} == {}
