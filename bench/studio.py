"""The studio at 1,000 endpoints, in Chromium: how long pages take, saving, and the preview after a key."""

from __future__ import annotations

import shutil
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, Response, sync_playwright

from bench import ours
from bench.processes import PreparationError
from bench.race import Say, Stable
from bench.report import aligned
from bench.servers import Server, cores, portico

KEY = "studio"
MANY = 1_000
PAGE_GOAL = 300.0
"""The most milliseconds from the request for a page to its last byte."""
KEY_GOAL = 150.0
"""The most milliseconds from the last key to what the server says of the page as it stands."""

THREADS = 4
_ADMIN = "/admin/"
_ENDPOINTS = f"{_ADMIN}designer/endpoint/"
_PAGES = {
    "the dashboard": _ADMIN,
    "the list of endpoints": _ENDPOINTS,
    "Add endpoint": f"{_ENDPOINTS}add/",
    "the list of exposed entities": f"{_ADMIN}designer/exposedentity/",
    "Expose an entity": f"{_ADMIN}expose/",
    "the permission matrix": f"{_ADMIN}matrix/",
    "the palette": f"{_ADMIN}palette/",
    "roles": f"{_ADMIN}designer/role/",
    "versions": f"{_ADMIN}versions/",
    "usage": f"{_ADMIN}usage/",
    "export": f"{_ADMIN}export/",
    "translations": f"{_ADMIN}translations/",
}
_TYPING = "the preview after a key"
# The answer to a save leads to the page that follows.
_SAVED_WITHIN = """() => {
    const { redirectStart, redirectEnd } = performance.getEntriesByType("navigation")[0];
    return redirectEnd - redirectStart;
}"""
_NOTE_TIMES = """() => {
    window.benchTimes = [];
    let key = null;
    document.addEventListener("input", () => { key = performance.now(); }, true);
    document.addEventListener("live:shown", () => {
        if (key !== null) window.benchTimes.push(performance.now() - key);
        key = null;
    });
}"""


def measure_all(stable: Stable, say: Say, *, rounds: int) -> dict[str, Any]:
    """Return the milliseconds of each page, of saving and of typing, as `{goal, times}` by what was done."""
    say(f"The studio at {MANY:,} endpoints: {rounds} rounds")
    url = stable.databases.copy("ours", "studio")
    ours.configure(url, stable.folder, MANY)
    server = Server.start(
        "studio", portico(THREADS), ours.environment(url, stable.folder), stable.folder, cores()[0]
    )
    times: defaultdict[str, list[float]] = defaultdict(list)
    try:
        with _chromium() as browser:
            page = browser.new_page(base_url=f"http://127.0.0.1:{server.port}")
            _log_in(page)
            endpoint, entity = _first(page, _ENDPOINTS), _first(page, f"{_ADMIN}designer/exposedentity/")
            for number in range(rounds + 1):
                # The first round only fills what is worked out once.
                taken = times if number else defaultdict(list)
                for what, path in {**_PAGES, "an endpoint": endpoint, "an exposed entity": entity}.items():
                    taken[what].append(_spent(page.goto(path)))
                taken["saving an endpoint"].append(_save(page, endpoint, number))
                taken["saving an exposed entity"].append(_save(page, entity, number))
                taken[_TYPING] += _type(page, endpoint)
    finally:
        server.stop()
    results = {
        what: {"goal": KEY_GOAL if what == _TYPING else PAGE_GOAL, "times": each}
        for what, each in times.items()
    }
    print(f"\n{_told(results)}\n", flush=True)
    return results


@contextmanager
def _chromium() -> Iterator[Browser]:
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        raise PreparationError("The scenario studio needs Chromium: install chromium-headless-shell.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            browser.close()


def _log_in(page: Page) -> None:
    page.goto(_ADMIN)
    page.get_by_label("Username").fill("designer")
    page.get_by_label("Password").fill(ours.PASSWORD)
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("Enter")


def _first(page: Page, path: str) -> str:
    """Return the address of the first one that the list at `path` shows."""
    page.goto(path)
    address = page.locator("#result_list tbody th a").first.get_attribute("href")
    if address is None:
        raise PreparationError(f"The list {path} shows nothing.")
    return address.partition("?")[0]


def _spent(response: Response | None) -> float:
    """Return the milliseconds from the request to the last byte of its answer."""
    if response is None or not response.ok:
        raise PreparationError(
            f"The studio answers {response and response.status} at {response and response.url}."
        )
    response.finished()
    timing = response.request.timing
    return float(timing["responseEnd"] - timing["requestStart"])


def _save(page: Page, path: str, number: int) -> float:
    """Change the description at `path` and save. Return the milliseconds of the save itself, without the page
    that follows it.
    """
    page.goto(path)
    page.locator("[name=description]").first.fill(f"Of the bench {number}")
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Save", exact=True).click()
    if page.locator(".studio-refused, .errornote").count():
        raise PreparationError(
            f"{path} cannot be saved: {page.locator('.studio-refused, .errornote').first.inner_text()}"
        )
    spent: float = page.evaluate(_SAVED_WITHIN)
    return spent


def _type(page: Page, path: str) -> list[float]:
    """Type into the page at `path`. Return the milliseconds from each last key to the preview."""
    page.goto(path)
    page.evaluate(_NOTE_TIMES)
    page.locator("[name=description]").first.click()
    page.keyboard.type("Read by the portal", delay=40)
    page.wait_for_timeout(1_000)
    times: list[float] = page.evaluate("window.benchTimes")
    if not times:
        raise PreparationError(f"Nothing followed what was typed at {path}.")
    return times


def _told(results: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [["", "median, ms", "slowest, ms", "goal, ms", ""]]
    for what, found in results.items():
        times, goal = found["times"], found["goal"]
        median = statistics.median(times)
        rows.append([what, f"{median:.0f}", f"{max(times):.0f}", f"{goal:g}", "✓" if median <= goal else "✗"])
    return "\n".join([f"The studio at {MANY:,} endpoints, in Chromium", *aligned(rows)])
