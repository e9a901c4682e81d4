"""Who may call what, found out by calls that change nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import requests

from tests.servers import ANSWER_SECONDS, Server, Site

NOBODY = ""
ACCOUNTS = ("rep", "manager", "agent", "customer")
# An id that no record has, and a member that no body has: such calls change nothing.
_NO_ID = "00000000-dead-4000-8000-000000000000"
_BODY = {"no such member": 1}

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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{self.version}\n")
        self._process.stdin.flush()
        facts = json.loads(self._process.stdout.readline())
        facts["operations"] = [Operation(*one) for one in facts["operations"]]
        if facts["versions"]:
            self.version = facts["versions"][-1]["id"]
        return Facts(**facts)

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
        self._url = server.url
        self._sessions: dict[str, requests.Session] = {NOBODY: requests.Session()}
        for account in ACCOUNTS:
            session = self._sessions[account] = requests.Session()
            session.headers["Authorization"] = f"Bearer {server.token(account)}"
        self.calls: Counter[str] = Counter()

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
