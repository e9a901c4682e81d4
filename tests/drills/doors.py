"""Who may call what, found out by calls that change nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import requests

from tests.servers import ANSWER_SECONDS, Server, Site

NOBODY = ""
ACCOUNTS = ("rep", "manager", "agent", "customer")
# An id that no record has, and a member that no body has: such calls change nothing.
_NO_ID = "00000000-dead-4000-8000-000000000000"
_BODY = {"no such member": 1}
# Seconds after which tokens are renewed.
_FRESH = 120

_FACTS = """
import json, sys
from designer.endpoint_calls import recent_calls
from designer.loading import latest
from designer.models import RecordedRevision, Version
for line in sys.stdin:
    since, now = int(line), latest()
    operations = [
        [id, one.definition.key, method, one.path, one.kind.writes]
        for id, one in now.endpoints.items()
        if one.definition.enabled and one.problem is None
        for method in one.methods
    ]
    versions = [
        {"id": one.pk, "account": one.account, "origin": one.origin,
         "changes": [[change.collection, change.key, change.before, change.after]
                     for change in one.changes.all()]}
        for one in Version.objects.filter(pk__gt=since).order_by("pk").prefetch_related("changes")
    ]
    recorded = RecordedRevision.objects.first()
    print(json.dumps({
        "revision": now.revision.number, "recorded": recorded.number if recorded else 0,
        "operations": operations, "versions": versions,
        "called": list(recent_calls({one[1] for one in operations})),
    }), flush=True)
"""


class Operation(NamedTuple):
    """One method of an endpoint that the configuration serves. `id` stays when it moves."""

    id: int
    key: str
    method: str
    path: str
    writes: bool


@dataclass(frozen=True)
class Facts:
    """What the database holds."""

    revision: int
    recorded: int
    operations: Sequence[Operation]
    versions: Sequence[Mapping[str, Any]]
    """Those after the one that was known before, the oldest first."""
    called: Collection[str]
    """Keys of the endpoints that were called of late: whoever breaks these is asked."""


class Database:
    """Reads facts out of an installation's database, past its servers."""

    def __init__(self, site: Site) -> None:
        self.version = 0
        """The newest version that was read."""
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", _FACTS],
            cwd=site.code, env=site.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def read(self) -> Facts:
        """Return the facts. The versions are those since the last call."""
        facts = self._ask()
        facts["operations"] = [Operation(*one) for one in facts["operations"]]
        if facts["versions"]:
            self.version = facts["versions"][-1]["id"]
        return Facts(**facts)

    def revision(self) -> int:
        """Return the number of the configuration that is served. No version counts as read."""
        return int(self._ask()["revision"])

    def _ask(self) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{self.version}\n")
        self._process.stdin.flush()
        facts: dict[str, Any] = json.loads(self._process.stdout.readline())
        return facts

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class Answer:
    status: int
    code: str

    @property
    def is_open(self) -> bool:
        """Whether the caller is let in: what comes then is about the call."""
        return self.status not in (401, 403)

    def __str__(self) -> str:
        return f"{self.status} {self.code}".strip()


Answers = Mapping[tuple[Operation, str], Answer]


class Doors:
    """All operations, as nobody and as an account of each role finds them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._url = server.url
        self._sessions = {name: requests.Session() for name in (NOBODY, *ACCOUNTS)}
        self._since = 0.0
        self.log_in()
        self.calls: Counter[str] = Counter()

    @property
    def are_old(self) -> bool:
        """Whether the tokens end soon: they live five minutes."""
        return time.monotonic() - self._since > _FRESH

    def log_in(self) -> None:
        """Get a token for each account; one that cannot log in keeps what it has."""
        self._since = time.monotonic()
        for account in ACCOUNTS:
            with suppress(requests.HTTPError):
                token = self._server.token(account)
                self._sessions[account].headers["Authorization"] = f"Bearer {token}"

    def knock(self, operations: Collection[Operation]) -> Answers:
        # Each caller in a thread of its own: a session is not for several.
        with ThreadPoolExecutor(len(self._sessions)) as pool:
            found = pool.map(lambda caller: self._as(caller, operations), self._sessions)
            return {place: answer for answers in found for place, answer in answers.items()}

    def _as(self, caller: str, operations: Collection[Operation]) -> dict[tuple[Operation, str], Answer]:
        return {(operation, caller): self._call(operation, caller) for operation in operations}

    def _call(self, operation: Operation, caller: str) -> Answer:
        segments = [_NO_ID if "{" in segment else segment for segment in operation.path.split("/")]
        body = None if operation.method in ("GET", "DELETE") else _BODY
        answer = self._sessions[caller].request(
            operation.method, self._url + "/".join(segments), json=body, timeout=ANSWER_SECONDS
        )
        is_problem = answer.headers.get("Content-Type", "").startswith("application/problem")
        code = str(answer.json().get("code", "")) if is_problem else ""
        self.calls[str(answer.status_code)] += 1
        return Answer(answer.status_code, code)
