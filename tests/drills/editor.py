"""A designer who saves a module in the studio, over and over, while callers are at work."""

from __future__ import annotations

import re
from contextlib import suppress

import requests

from tests.drills.ledger import Ledger
from tests.sent_forms import sent_form
from tests.servers import ANSWER_SECONDS, Server

# The studio's pages say these while what they stand on is away.
AWAY = {502, 503, 504}
PAGE = re.compile(r"/admin/designer/module/\d+/change/")


class Editor:
    """Gives a module one title after the other. What was saved holds for the next request, of any server."""

    def __init__(self, server: Server, other: Server, ledger: Ledger) -> None:
        self._server = server
        self._other = other
        self._ledger = ledger
        self._session = requests.Session()
        self._tried = 0
        self.saved = 0
        """The number in the title that was saved last."""

    def edit(self) -> None:
        """Save once, if the studio can be reached."""
        with suppress(requests.RequestException):
            listed = self._call("GET", self._server.url + "/admin/designer/module/?q=sales")
            if listed is None:
                return
            if "/login/" in listed.url:
                self._send(listed, "username", username="designer", password="demo")
                return
            page = self._call("GET", self._server.url + PAGE.findall(listed.text)[0])
            if page is None:
                return
            self._tried += 1
            answer = self._send(page, "title", title=f"Sales {self._tried}", _save="Save")
            if answer is not None and answer.status_code == 302:
                self.saved = self._tried
                self._compare()
            elif answer is not None:
                self._ledger.fault(f"The module was not saved: {answer.status_code}")

    def _compare(self) -> None:
        answer = requests.get(self._other.url + "/api/schema/modules", timeout=ANSWER_SECONDS)
        if answer.status_code == 200:
            titles = {module["name"]: module["title"] for module in answer.json()["modules"]}
            if titles.get("sales") != f"Sales {self.saved}":
                self._ledger.fault(f"Saved as “Sales {self.saved}”, answered as “{titles.get('sales')}”")

    def _send(self, page: requests.Response, field: str, **given: str) -> requests.Response | None:
        """The form of `page` that has `field`, as a browser sends it, with what was `given`."""
        data = sent_form(page, field, **given)
        return self._call("POST", page.url, data=data, headers={"Referer": page.url}, allow_redirects=False)

    def _call(self, method: str, url: str, **options: object) -> requests.Response | None:
        """None while what the studio stands on is away."""
        answer = self._session.request(method, url, timeout=ANSWER_SECONDS, **options)  # type: ignore[arg-type]
        if answer.status_code < 500:
            return answer
        if answer.status_code not in AWAY:
            self._ledger.fault(f"The studio answered {answer.status_code} to {method} {url}")
        return None
