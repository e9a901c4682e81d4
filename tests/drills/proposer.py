"""People who change a protected module by proposals, each a part of the same list of the portal."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import requests
from lxml import html

from tests.drills.ledger import Ledger
from tests.servers import ANSWER_SECONDS, Server

MODULE, QUERY = "portal", "articles"
# Output columns by who changes their names. Both columns of a part change at once.
PARTS: Mapping[str, tuple[str, str]] = {
    "nora": ("knowledgearticleid", "articlepublicnumber"),
    "paul": ("title", "content"),
}
_QUESTION = re.compile(r'name="(_breaks|_moves)" value="1"')
_PROPOSAL = re.compile(r"/admin/proposals/(\d+)/")


class Live:
    """Which number callers may find in the names of a part's columns, at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.publishing = {part: threading.Lock() for part in PARTS}
        """Held by a part while it changes, and by whoever opens a proposal: nothing changes meanwhile."""
        self._allowed: dict[str, list[frozenset[int]]] = {part: [frozenset({0})] for part in PARTS}

    def moment(self) -> dict[str, int]:
        with self._lock:
            return {part: len(states) for part, states in self._allowed.items()}

    def since(self, moment: Mapping[str, int]) -> dict[str, frozenset[int]]:
        """What was right at some time between `moment` and now."""
        with self._lock:
            return {
                part: frozenset().union(*states[moment[part] - 1 :]) for part, states in self._allowed.items()
            }

    def number(self, part: str) -> int:
        """What is live, while nobody changes it."""
        with self._lock:
            (number,) = self._allowed[part][-1]
        return number

    def changing(self, part: str, number: int) -> None:
        """From here on, callers may find the new number, too."""
        with self._lock:
            self._allowed[part].append(self._allowed[part][-1] | {number})

    def settled(self, part: str, number: int) -> None:
        with self._lock:
            self._allowed[part].append(frozenset({number}))


class Proposer:
    """Opens, approves, publishes and takes back proposals on the studio's pages."""

    def __init__(self, server: Server, part: str, live: Live, ledger: Ledger) -> None:
        self._url = server.url
        self._part = part
        self._live = live
        self._ledger = ledger
        self._number = 0
        self._session = requests.Session()
        self.published = self.taken_back = self.refused = 0
        page = self._call("GET", "/admin/login/")
        assert page.status_code == 200
        logged_in = self._send("/admin/login/", username=part, password="demo")
        assert logged_in.status_code == 302, logged_in.text

    def __str__(self) -> str:
        return f"{self.published} published, {self.taken_back} taken back, {self.refused} refused"

    def propose(self) -> tuple[int, int]:
        """Open a proposal for the part's next names: its id, and the number in the names."""
        with ExitStack() as stack:
            for lock in self._live.publishing.values():
                stack.enter_context(lock)
            return self._propose()

    def _propose(self) -> tuple[int, int]:
        self._number += 1
        opened = self._send("/admin/proposals/new/", title=f"{self._part} {self._number}", module=MODULE)
        id = int(_PROPOSAL.search(opened.headers.get("Location", ""))[1])  # type: ignore[index]  # fails if absent
        document = self._call("GET", f"/admin/proposals/{id}/document/").json()
        name_columns(document, self._part, self._number)
        files = {"document": ("portal.json", json.dumps(document))}
        edited = self._send(f"/admin/proposals/{id}/", files=files, replace="1")
        assert edited.status_code == 302, edited.text
        return id, self._number

    def approve(self, id: int) -> None:
        answer = self._step(id, "approve")
        assert answer.status_code == 302, f"Proposal {id} was not approved: {_said(answer)}"

    def publish(self, id: int, number: int) -> None:
        """Publish one that may go live."""
        self._change(id, "publish", number)
        self.published += 1

    def go_back(self, id: int, number: int) -> None:
        self._change(id, "go_back", number)
        self.taken_back += 1

    def overtaken(self, id: int) -> None:
        """Try to publish a proposal for names that are others by now, and give it up."""
        if self._step(id, "publish").status_code == 302:
            self._ledger.fault(f"Proposal {id} went live over a later change")
        self.refused += 1
        answer = self._step(id, "withdraw")
        assert answer.status_code == 302, f"Proposal {id} was not withdrawn: {_said(answer)}"

    def _change(self, id: int, step: str, number: int) -> None:
        with self._live.publishing[self._part]:
            self._live.changing(self._part, number)
            answer = self._step(id, step, **_questions_of(self._page(id)))
            page = self._page(id)
            if answer.status_code == 302 and "Not done yet" in page:
                # Somebody calls what the change breaks, and the person means it.
                answer = self._step(id, step, **_questions_of(page))
            assert answer.status_code == 302, f"Refused to {step} proposal {id}: {_said(answer)}"
            self._live.settled(self._part, number)

    def _page(self, id: int) -> str:
        return self._call("GET", f"/admin/proposals/{id}/").text

    def _step(self, id: int, name: str, **answered: str) -> requests.Response:
        """Press a button. A redirect says that it was done, or that the next page asks about callers."""
        value = html.document_fromstring(self._page(id)).xpath(f"string(//button[@name='{name}']/@value)")
        return self._send(f"/admin/proposals/{id}/", **{name: str(value)}, **answered)

    def _send(self, path: str, files: Any = None, **fields: str) -> requests.Response:
        data = {"csrfmiddlewaretoken": self._session.cookies["csrftoken"], **fields}
        return self._call("POST", path, data=data, files=files, headers={"Referer": self._url + path})

    def _call(self, method: str, path: str, **options: Any) -> requests.Response:
        options |= {"timeout": ANSWER_SECONDS, "allow_redirects": False}
        answer = self._session.request(method, self._url + path, **options)
        if answer.status_code >= 500:
            self._ledger.fault(f"The studio answered {answer.status_code} to {method} {path}")
        return answer


def _questions_of(page: str) -> Mapping[str, str]:
    """Return the answer yes to each question about callers on a page."""
    return dict.fromkeys(_QUESTION.findall(page), "1")


def _said(answer: requests.Response) -> str:
    text = html.document_fromstring(answer.text).xpath("string(.//main)")
    return f"{answer.status_code} {' '.join(str(text).split())[:1000] or answer.text[:1000]}"


def name_columns(document: dict[str, Any], part: str, number: int) -> None:
    (query,) = (one for one in document["endpoints"] if one.get("name") == QUERY)
    for column in query["columns"]:
        if column["attribute"] in PARTS[part]:
            column["name"] = _name(column["attribute"], number)


def _name(attribute: str, number: int) -> str:
    return f"{attribute}{number}"


class Reader(threading.Thread):
    """An anonymous caller of the list, who holds each answer to what may be live."""

    def __init__(self, server: Server, live: Live, ledger: Ledger, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._live = live
        self._ledger = ledger
        self._over = over

    def run(self) -> None:
        try:
            self._read()
        except Exception as error:
            self._ledger.fault(f"A reader ended: {error!r}")
            raise

    def _read(self) -> None:
        session = requests.Session()
        while not self._over.is_set():
            moment = self._live.moment()
            url = f"{self._server.url}/api/{MODULE}/queries/{QUERY}"
            answer = session.get(url, timeout=ANSWER_SECONDS)
            if answer.status_code != 200:
                self._ledger.fault(f"A reader was answered {answer.status_code}: {answer.text[:300]}")
                continue
            self._ledger.count("200")
            self._judge(answer.json()[0], self._live.since(moment))

    def _judge(self, row: Mapping[str, object], allowed: Mapping[str, frozenset[int]]) -> None:
        for part, attributes in PARTS.items():
            right = [
                number
                for number in allowed[part]
                if all(_name(attribute, number) in row for attribute in attributes)
            ]
            if len(right) != 1:
                self._ledger.fault(f"A row with {sorted(row)}, while {part} had {sorted(allowed[part])} live")
