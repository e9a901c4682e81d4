"""The service in front of Dataverse answers the demo's callers as with the embedded platform.

Both sides hold the demo and nothing else: tests that write have servers of their own (test_service.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, FIRST_CONTACT, RITA_REP, stable_id
from tests.dataverse.reaching import Person, settings_for
from tests.servers import Server, Site, copied

pytestmark = pytest.mark.processes

CURSOR = re.compile(rb'"cursor":"[^"]*"')
# Their tags stand for the metadata's revision, which each platform counts on its own.
DESCRIBED = ("/api/schema", "/api/openapi")
IDS = (FIRST_ACCOUNT, FIRST_CONTACT, stable_id("incident", "1"), RITA_REP)


@pytest.fixture(scope="module")
def remote(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("same_demo")
    with (
        copied(_prepared, folder / "crm", "same_crm") as crm,
        copied(_prepared, folder / "own", "same") as site,
    ):
        platform = crm.start_crm(root="/contoso")
        yield site.start(**settings_for(platform), ADDRESS_RATE="0", CALLER_RATE="0", THREADS="8")


@pytest.fixture(scope="module")
def local(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("same_local") / "data", "same_local") as site:
        yield site.start(ADDRESS_RATE="0", CALLER_RATE="0")


@pytest.mark.parametrize("account", ["rep", "manager", "agent", "customer", "customer2"])
def test_the_demo_is_answered_as_in_the_embedded_mode(remote: Server, local: Server, account: str) -> None:
    there, here = Person(remote, account), Person(local, account)
    paths = [
        path.replace("{id}", id)
        for path, operations in here.settled("/api/openapi.json").json()["paths"].items()
        if "get" in operations and "{" not in path.replace("{id}", "")
        for id in (IDS if "{id}" in path else ("",))
    ]
    counts = {200: 0}

    for path in dict.fromkeys(paths):
        ours, theirs = there.settled(path), here.settled(path)
        assert ours.status_code == theirs.status_code, (path, ours.text, theirs.text)
        if ours.status_code == 200:
            assert CURSOR.sub(b"", ours.content) == CURSOR.sub(b"", theirs.content), path
            if not path.startswith(DESCRIBED):
                assert ours.headers.get("ETag") == theirs.headers.get("ETag"), path
        counts[ours.status_code] = counts.get(ours.status_code, 0) + 1

    assert counts[200] >= 5, counts
