"""A preview of a large import, by the command and in the studio, while somebody writes."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.servers import ANSWER_SECONDS, Server, Site, copied

pytestmark = pytest.mark.processes

# Rows of the configuration that the document would bring.
ROWS = 20_000
ACCOUNTS = "/api/sales/accounts"


@pytest.fixture(scope="module")
def busy(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("previews") / "data", "previews") as site:
        yield site


@pytest.fixture(scope="module")
def server(busy: Site) -> Server:
    return busy.start(CALLER_RATE="0", ADDRESS_RATE="0", REQUEST_DEADLINE="120", PLATFORM_TIMEOUT="120")


@pytest.fixture(scope="module")
def before(busy: Site) -> str:
    """What is configured, and stays so."""
    return busy.manage("exportconfig")


@pytest.fixture(scope="module")
def large(before: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration with copies of a create, until there are so many rows more."""
    document: dict[str, Any] = json.loads(before)
    (create,) = (
        one
        for one in document["endpoints"]
        if (one["kind"], one.get("module"), one.get("exposure")) == ("create", "sales", "accounts")
    )
    rows = 1 + len(create["inputs"]) + len(create["bindings"])
    copies = [{**create, "segment": f"copy-{number}"} for number in range(-(-ROWS // rows))]
    document["endpoints"] += copies
    path = tmp_path_factory.mktemp("large") / "large.json"
    path.write_text(json.dumps(document))
    return path


def _by_command(site: Site, server: Server, document: Path) -> None:
    code, said = site.run("importconfig", str(document), "--dry-run")
    assert code == 0, said[-2000:]
    assert "dry run" in said


def _in_the_studio(site: Site, server: Server, document: Path) -> None:
    session = requests.Session()
    session.headers["Referer"] = server.url
    for path, data in (
        ("/admin/login/", {"username": "admin", "password": "demo", "next": "/admin/"}),
        ("/admin/import/", {}),
    ):
        page = session.get(server.url + path, timeout=ANSWER_SECONDS)
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token is not None, page.text
        files = {"document": document.open("rb")} if "import" in path else None
        sent = {"csrfmiddlewaretoken": token[1], **data}
        answer = session.post(server.url + path, sent, files=files, timeout=10 * ANSWER_SECONDS)
        assert answer.status_code == 200, answer.text
    assert "copy-1.create" in answer.text


@pytest.mark.parametrize("preview", [_by_command, _in_the_studio])
def test_whoever_writes_meanwhile_is_answered(
    busy: Site, server: Server, before: str, large: Path, preview: Callable[[Site, Server, Path], None]
) -> None:
    bearer = {"Authorization": f"Bearer {server.token('rep')}"}
    failed: list[BaseException] = []

    def run() -> None:
        try:
            preview(busy, server, large)
        except BaseException as error:
            failed.append(error)

    running = threading.Thread(target=run)
    running.start()
    statuses = []
    while running.is_alive():
        answer = server.request("POST", ACCOUNTS, json={"name": "Meanwhile"}, headers=bearer)
        if answer.status_code == 401:
            # A token is good for five minutes, and a busy machine takes its time.
            bearer = {"Authorization": f"Bearer {server.token('rep')}"}
        elif running.is_alive():
            statuses.append(answer.status_code)
        # The preview needs the processors, too.
        running.join(0.05)
    assert failed == []
    # One that held the database's lock would let in none until its end.
    assert len(statuses) > 3
    assert set(statuses) == {200}
    assert busy.manage("exportconfig") == before
