"""A real “Try it” in a real browser: one call, one write, whatever the browser does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import requests

from tests.designer.create_page import open_create
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]

NAME = "Called once"


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


@pytest.fixture
def form(server: Server, page: Page) -> Page:
    """“Try it” of the demo's create, filled in for a real call."""
    open_create(server, page)
    page.goto(page.url.replace("/change/", "/try/"))
    fill(page)
    return page


def fill(page: Page) -> None:
    page.locator("[name=body__name]").fill(NAME)


def call(page: Page) -> None:
    page.get_by_role("button", name="Call for real", exact=True).click()
    page.locator("[data-status]", has_text="200").wait_for()


def written(server: Server) -> int:
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    place = f"/api/sales/queries/accounts?name={NAME}&pageSize=50"
    answer = server.request("GET", place, headers=headers)
    assert answer.status_code == 200, answer.text
    return sum(row["name"] == NAME for row in answer.json()["data"])


def test_reloading_going_back_and_forward_write_nothing_more(server: Server, form: Page) -> None:
    call(form)
    assert written(server) == 1
    for _ in range(2):
        form.reload()
        form.locator("[data-status]", has_text="200").wait_for()
    form.go_back()
    form.get_by_role("button", name="Call for real", exact=True).wait_for()
    assert form.locator("[data-status]").count() == 0
    form.go_forward()
    form.locator("[data-status]", has_text="200").wait_for()
    assert written(server) == 1
    form.go_back()
    fill(form)
    call(form)
    assert written(server) == 2


def test_a_double_click_writes_once(server: Server, form: Page) -> None:
    form.get_by_role("button", name="Call for real", exact=True).dblclick()
    form.locator("[data-status]", has_text="200").wait_for()
    assert written(server) == 1


def test_two_tabs_that_send_one_form_at_once_write_once(server: Server, form: Page) -> None:
    sent = dict(form.evaluate("[...new FormData(document.querySelector('.studio-try form'))]"))
    sent |= {"roles": "sales-rep", "mode": "real"}
    cookies = {cookie["name"]: cookie["value"] for cookie in form.context.cookies()}
    place, headers = form.url, {"Referer": form.url}

    def send(_: int) -> requests.Response:
        return requests.post(place, data=sent, cookies=cookies, headers=headers, timeout=60)

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(send, range(6)))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.url for answer in answers} == {answers[0].url}
    assert written(server) == 1
