"""Two people edit a protected module while callers are at work: what is live changes when it is published."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sent_forms import Person
from tests.servers import Server, Site, until

PATH = "/api/sales/accounts"
MODULE = re.compile(r"/admin/designer/module/\d+/change/")
# By what it proposes, two inputs are called otherwise. Nobody may ever be answered by half of that.
BEFORE, AFTER = {"name": "A", "phone": "1"}, {"company": "A", "tel": "1"}
MIXED = ({"name": "A", "tel": "1"}, {"company": "A", "phone": "1"})
SETUP = """
from django.contrib.auth.models import Group, User
from designer.models import Protection
Protection.objects.create(group="sales")
for name in ("nora", "otto"):
    user = User.objects.create_user(name, password="demo", is_staff=True)
    user.groups.add(Group.objects.get(name="Publisher"))
"""

pytestmark = pytest.mark.processes


class Editor:
    """Saves the protected module in the studio, over and over."""

    def __init__(self, server: Server, name: str) -> None:
        self._person = Person(server)
        self._name = name
        self.statuses: list[int] = []

    def edit(self) -> None:
        listed = self._person.page("/admin/designer/module/?q=sales")
        if "/login/" in listed.url:
            self._person.log_in(listed, self._name)
            return
        page = self._person.page(MODULE.findall(listed.text)[0])
        title = f"By {self._name} {len(self.statuses)}"
        self.statuses.append(self._person.send(page, "title", title=title, _save="Save").status_code)


class Caller:
    """Calls with both forms of the body, and with half of each."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._headers = {"Authorization": f"Bearer {server.token('rep')}"}
        self.answers: list[tuple[int, int]] = []
        self.mixed: set[int] = set()

    def call(self) -> None:
        self.answers.append((self._post(BEFORE), self._post(AFTER)))
        self.mixed |= {self._post(body) for body in MIXED}

    def _post(self, body: dict[str, str]) -> int:
        return self._server.request("POST", PATH, json=body, headers=self._headers).status_code


@contextmanager
def _at_work(*works: Any) -> Iterator[list[BaseException]]:
    """Each of `works` over and over in a thread of its own; what they raised."""
    ended, raised = threading.Event(), list[BaseException]()

    def repeat(work: Any) -> None:
        try:
            while not ended.is_set():
                work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=repeat, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield raised
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _proposed(site: Site, folder: Path) -> str:
    """The number of a proposal that renames two inputs."""
    data = json.loads(site.manage("exportconfig", "--module", "sales"))
    (create,) = (
        one for one in data["endpoints"] if one["kind"] == "create" and one.get("exposure") == "accounts"
    )
    for old, new in (("name", "company"), ("phone", "tel")):
        for one in (*create["inputs"], *create["bindings"]):
            for member in ("name", "value"):
                if one.get(member) == old:
                    one[member] = new
    file = folder / "proposal.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return str(json.loads(site.manage("openproposal", str(file), "--json"))["id"])


def test_what_is_live_changes_when_it_is_published_and_all_at_once(site: Site, tmp_path: Path) -> None:
    site.manage("shell", "-c", SETUP)
    number = _proposed(site, tmp_path)
    server = site.start(CALLER_RATE="0")
    editors = [Editor(server, "nora"), Editor(server, "otto")]
    caller = Caller(server)

    def seen(answers: tuple[int, int]) -> None:
        """Wait until this is what callers are answered, after what has been answered by now."""
        begun = len(caller.answers)
        until(lambda: answers in caller.answers[begun:])

    with _at_work(caller.call, *(editor.edit for editor in editors)) as raised:
        until(lambda: raised or all(len(editor.statuses) > 1 for editor in editors))
        seen((200, 400))
        site.manage("publishproposal", number)
        seen((400, 200))
        site.manage("publishproposal", number, "--go-back")
        seen((200, 400))
    assert raised == []
    # The page is shown again: not one save came through, nor did any go wrong.
    assert {status for editor in editors for status in editor.statuses} == {200}
    title = site.manage(
        "shell", "-c", "from designer.models import Module; print(Module.objects.get(segment='sales').title)"
    )
    assert "By " not in title
    assert caller.mixed == {400}
    # Between the two calls of a pair it may have been published: then both were answered, or neither.
    assert {status for pair in caller.answers for status in pair} == {200, 400}
    changes = [pair for at, pair in enumerate(caller.answers) if at == 0 or caller.answers[at - 1] != pair]
    settled = [pair for pair in changes if pair in ((200, 400), (400, 200))]
    assert [pair for at, pair in enumerate(settled) if at == 0 or settled[at - 1] != pair] == [
        (200, 400),
        (400, 200),
        (200, 400),
    ]
