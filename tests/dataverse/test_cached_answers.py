"""Cached answers before Dataverse: few calls, ended by our own writes, served while it is away."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import settings_for
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes
ACCOUNTS = "/api/sales/accounts"
KEPT = "/api/sales/queries/kept"
MADE = """
from designer.models import Endpoint, Module
query = ('<fetch><entity name="account"><attribute name="name"/><attribute name="ownerid"/><filter>'
         '<condition attribute="name" operator="like" value="Kept%"/></filter></entity></fetch>')
Endpoint.objects.create(kind="multi-query", module=Module.objects.get(segment="sales"), name="kept",
                        settings={"query": query, "cache": {"seconds": 3, "stale_seconds": 600}})
"""


@pytest.fixture
def crm(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("crm") / "data", "cached_crm") as site:
        yield site.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


def status(answer: requests.Response) -> str:
    assert answer.status_code == 200, answer.text
    return re.sub(r"ttl=-?\d+", "ttl=…", answer.headers["Cache-Status"])


def test_a_write_that_is_not_sent_ends_no_answer(site: Site, crm: Server) -> None:
    """Readers go on with what is kept, however often others try to write while Dataverse is left alone."""
    site.manage("shell", "-v", "0", "-c", MADE)
    server = site.start(**settings_for(crm), CALLER_RATE="0")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    faults = Failing(crm)

    def ask(method: str, path: str, **more: Any) -> requests.Response:
        return server.request(method, path, headers=headers, **more)

    until(lambda: ask("GET", KEPT).status_code == 200)
    place = f"{ACCOUNTS}/{ask('POST', ACCOUNTS, json={'name': 'Kept'}).json()['id']}"
    assert [row["name"] for row in ask("GET", KEPT).json()] == ["Kept"]
    faults.arm({"path": "/api/data/", "status": 429, "headers": {"Retry-After": "300"}})
    assert ask("GET", place).status_code == 503
    for method, path in (("PATCH", place), ("POST", ACCOUNTS)):
        refused = ask(method, path, json={"name": "Kept anew"})
        assert (refused.status_code, refused.json()["code"]) == (503, "platform_throttled")
    assert faults.struck() == [1]
    time.sleep(3.5)
    late = ask("GET", KEPT)
    assert status(late) == "Portico; hit; ttl=…; detail=platform-away"
    assert [row["name"] for row in late.json()] == ["Kept"]


def test_answers_are_kept_ended_by_own_writes_and_served_while_dataverse_is_away(
    site: Site, crm: Server
) -> None:
    site.manage("shell", "-v", "0", "-c", MADE)
    server = site.start(**settings_for(crm), CALLER_RATE="0", PLATFORM_TIMEOUT="3")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}

    def get(**more: str) -> requests.Response:
        return server.request("GET", KEPT, headers={**headers, **more})

    until(lambda: get().status_code == 200)
    created = server.request("POST", ACCOUNTS, json={"name": "Kept"}, headers=headers)
    assert created.status_code == 200, created.text
    first = get()
    assert status(first) == "Portico; fwd=uri-miss; stored"
    assert [row["name"] for row in first.json()] == ["Kept"]
    assert status(get()) == "Portico; hit; ttl=…"
    held = get(**{"If-None-Match": first.headers["ETag"]})
    assert (held.status_code, held.content) == (304, b"")
    place = f"{ACCOUNTS}/{created.json()['id']}"
    assert server.request("PATCH", place, json={"name": "Kept anew"}, headers=headers).status_code == 204
    assert [row["name"] for row in get().json()] == ["Kept anew"]
    crm.kill()
    time.sleep(3.5)
    late = get()
    assert status(late) == "Portico; hit; ttl=…; detail=platform-away"
    assert late.json() == get().json()
    assert int(late.headers["Age"]) >= 3
