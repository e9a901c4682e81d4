"""Many requests of one new caller at once, to processes that share nothing but the database."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.issuers import AUDIENCE, Provider
from tests.servers import Server, Site

pytestmark = pytest.mark.processes

# Fewer seldom meet where one process looks before another has registered, and asks after it.
CALLERS = 40
AT_ONCE = 10
# What the registrations and the platform hold of the callers, by their subject.
COUNT = """
import json
from designer.platform import get_platform
from crmclient.query.ast import Column, Query
from runtime.callers.issuers.registration import Registration
columns = (Column("contactid"), Column("department"))
rows = get_platform().query(Query("contact", columns)).rows
rows = [row for row in rows if str(row["department"]).startswith("new-")]
made = sorted((row["department"], row["contactid"]) for row in rows)
kept = sorted((row.subject, str(row.record)) for row in Registration.objects.filter(done=True))
print("FOUND " + json.dumps([made, kept]))
"""


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.stop()


@pytest.fixture
def server(site: Site, provider: Provider, tmp_path: Path) -> Server:
    """Three processes, an issuer that registers contacts, and nothing remembered between processes."""
    document = tmp_path / "registering.json"
    document.write_text(json.dumps(_document(provider)), encoding="utf-8")
    site.manage("importconfig", str(document))
    return site.start(WORKERS="3", ISSUER_PRIVATE_HOSTS="127.0.0.1", CALLER_RATE="0")


def _document(provider: Provider) -> dict[str, Any]:
    named = {"name": "lastname", "key": "department"}
    return {
        "format": 2,
        "modules": [{"segment": "joining"}],
        "entities": [{"module": "joining", "segment": "people", "entity": "contact"}],
        "endpoints": [
            {
                "kind": "create",
                "module": "joining",
                "exposure": "people",
                "access": {"roles": ["customer"], "caller_types": ["contact"]},
                "inputs": [{"name": name, "required": True} for name in named],
                "bindings": [{"attribute": named[name], "value": name} for name in named],
            }
        ],
        "issuers": [
            {
                "name": "Customers",
                "issuer": provider.address,
                "audiences": [AUDIENCE],
                "roles": ["customer"],
                "record": {
                    "type": "contact",
                    "claim": "sub",
                    "attribute": "department",
                    "missing": "register",
                    "registration": {
                        "endpoint": "joining.people.create",
                        "inputs": [
                            {"input": "name", "claim": "family_name"},
                            {"input": "key", "claim": "sub"},
                        ],
                    },
                },
            }
        ],
    }


def test_requests_at_once_make_one_record_and_none_is_refused(
    site: Site, server: Server, provider: Provider
) -> None:
    answers: Counter[tuple[str, int, str]] = Counter()
    for at in range(CALLERS):
        subject = f"new-{at:02}"
        token = provider.token(sub=subject, family_name="Newcomer")
        together = threading.Barrier(AT_ONCE)

        def call(token: str = token, together: threading.Barrier = together) -> tuple[int, str]:
            together.wait()
            answer = server.request("GET", "/api/context", headers={"Authorization": f"Bearer {token}"})
            return answer.status_code, "" if answer.status_code == 200 else answer.text

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for status, refusal in [
                future.result() for future in [pool.submit(call) for _ in range(AT_ONCE)]
            ]:
                answers[subject, status, refusal] += 1
    assert answers == {(f"new-{at:02}", 200, ""): AT_ONCE for at in range(CALLERS)}
    [line] = [line for line in site.manage("shell", "-c", COUNT).splitlines() if line.startswith("FOUND ")]
    made, kept = json.loads(line.removeprefix("FOUND "))
    assert [subject for subject, _record in made] == [f"new-{at:02}" for at in range(CALLERS)]
    assert made == kept
