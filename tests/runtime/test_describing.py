"""Descriptions are made beside the server, by a process that nobody has to wait for."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.servers import Server, Site, until

pytestmark = pytest.mark.processes

LIMIT = "from django.db import connection; connection.cursor().execute({sql!r})"
SAVED = """
from designer.models import Input
phone = Input.objects.get(endpoint__kind="create", endpoint__entity__segment="accounts", name="phone")
phone.max_length = 20
phone.save()
"""
SHORTER = "UPDATE designer_input SET max_length = 20 WHERE name = 'phone'"


def edit_past_the_studio(site: Site) -> None:
    site.manage("shell", "-c", LIMIT.format(sql=SHORTER))


def made_and_removed(site: Site) -> tuple[int, int]:
    """What `manage.py describe` says that it has done."""
    made, removed = re.findall(r"(\d+) (?:made|of former days)", site.manage("describe"))
    return int(made), int(removed)


def phone(server: Server, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    answer = server.request("GET", "/api/openapi.json", headers=headers)
    while answer.status_code == 503:
        assert answer.json()["code"] == "not_described_yet"
        time.sleep(int(answer.headers["Retry-After"]))
        answer = server.request("GET", "/api/openapi.json", headers=headers)
    schema = answer.json()["components"]["schemas"]["create.sales.accounts.input"]
    return schema["properties"]["phone"]["maxLength"]


def describing() -> Iterator[int]:
    """The processes that describe."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"describe" in words and b"--serve" in words:
            yield int(folder.name)


def children_of(server: Server) -> list[int]:
    """Those of its workers, which are children of its own."""
    return [pid for pid in describing() if server.process.pid in ancestors(pid)]


def ancestors(pid: int) -> list[int]:
    pids = []
    while pid > 1:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            break
        pid = int(stat.rpartition(")")[2].split()[1])
        pids.append(pid)
    return pids


def test_an_edit_past_the_studio_is_described_by_a_process_of_the_lowest_priority(site: Site) -> None:
    server = site.start()
    token = server.token("rep")
    assert phone(server, token) == 50
    assert children_of(server) == []
    edit_past_the_studio(site)
    assert phone(server, token) == 20
    (child,) = children_of(server)
    assert os.getpriority(os.PRIO_PROCESS, child) == 19
    server.stop()
    until(lambda: child not in describing())


@pytest.fixture
def held(site: Site) -> Iterator[Server]:
    """A server whose describing process has begun, and does not get on until it is told to."""
    server = site.start(DESCRIPTION_WAIT="1")
    edit_past_the_studio(site)
    first = Thread(target=read, args=[server])
    first.start()
    stopped = started_by(server)
    os.kill(stopped, signal.SIGSTOP)
    first.join()
    yield server
    with suppress(ProcessLookupError):
        os.kill(stopped, signal.SIGCONT)


def read(server: Server) -> Any:
    return server.request("GET", "/api/openapi.json")


def started_by(server: Server) -> int:
    (child,) = until(lambda: children_of(server), pause=0.02)
    return child


def test_who_comes_before_it_is_described_is_told_when_to_come_again(held: Server) -> None:
    began = time.monotonic()
    answer = read(held)
    assert time.monotonic() - began >= 1
    assert (answer.status_code, answer.json()["code"]) == (503, "not_described_yet")
    assert int(answer.headers["Retry-After"]) >= 1
    # Nobody else has to wait.
    assert held.request("GET", "/optionsets/priorities").status_code == 200
    os.kill(started_by(held), signal.SIGCONT)
    assert phone(held, held.token("rep")) == 20


def test_an_edit_through_the_studios_models_is_described_when_it_is_saved(site: Site) -> None:
    server = site.start()
    token = server.token("rep")
    assert phone(server, token) == 50
    site.manage("shell", "-c", SAVED)
    assert phone(server, token) == 20
    assert children_of(server) == []


def test_what_prepare_has_described_is_there_for_the_first_reader(site: Site) -> None:
    edit_past_the_studio(site)
    assert made_and_removed(site) != (0, 0)
    server = site.start()
    assert phone(server, server.token("rep")) == 20
    assert children_of(server) == []


def test_what_is_served_no_longer_is_removed_after_a_day(site: Site) -> None:
    old = "from runtime.models import DescriptionFragment as F; F.objects.update(made='2020-01-01T00:00:00Z')"
    site.manage("shell", "-c", old)
    assert made_and_removed(site) == (0, 0)
    edit_past_the_studio(site)
    made, removed = made_and_removed(site)
    assert made == removed > 0
