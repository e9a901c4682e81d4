"""Callers that create, change and read accounts without end, and repeat what was not answered."""

from __future__ import annotations

import itertools
import threading
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import requests

from tests.drills.ledger import NAME, Ledger
from tests.servers import Server

ACCOUNTS = "/api/sales/accounts"
# Answers that ask for a repetition. All others but what was asked for are faults.
LATER = {
    409: {"in_flight"},
    502: {"platform_error"},
    503: {"platform_throttled", "platform_unavailable", "unavailable"},
    504: {"platform_timeout", "timeout"},
    507: {"insufficient_storage"},
}
# Longer than the service's own deadline: it answers, or the connection ends.
ANSWER_SECONDS = 60
# After a refusal or a broken connection. Callers of a drill are in haste: `Retry-After` is for patient ones.
PAUSE = 0.2


class DrillCaller(threading.Thread):
    """One account of the API at work. After `over` is set, it ends once all that it sent is answered."""

    def __init__(
        self, servers: Sequence[Server], number: int, username: str, ledger: Ledger, over: threading.Event
    ) -> None:
        super().__init__(name=f"caller-{number}", daemon=True)
        self._servers = servers
        self._turns = itertools.count(number)
        self._number = number
        self._username = username
        self._ledger = ledger
        self._over = over
        self._session = requests.Session()
        self._authorization: dict[str, str] = {}

    def run(self) -> None:
        try:
            for turn in itertools.count():
                if self._over.is_set():
                    return
                self._work(f"{NAME} {self._number}-{turn}")
        except Exception as error:
            self._ledger.fault(f"{self.name} ended: {error!r}")
            raise

    def _work(self, name: str) -> None:
        self._ledger.sent.add(name)
        answer = self._insist("POST", ACCOUNTS, {200}, json={"name": name}, key=str(uuid.uuid4()))
        id = answer.json()["id"]
        self._ledger.created[id] = name
        self._ledger.phones[id] = {""}
        self._read(id, name)
        phone = f"+49 {self._number} {uuid.uuid4().hex[:6]}"
        self._ledger.phones[id].add(phone)
        self._insist("PATCH", f"{ACCOUNTS}/{id}", {204}, json={"phone": phone})
        self._ledger.phones[id] = {phone}
        self._read(id, name)
        self._insist("GET", "/api/sales/queries/accounts?pageSize=10", {200})
        self._insist("GET", "/api/context", {200})

    def _read(self, id: str, name: str) -> None:
        """What was acknowledged is there at once."""
        account = self._insist("GET", f"{ACCOUNTS}/{id}", {200}).json()
        if account["name"] != name:
            self._ledger.fault(f"{id} was made as {name}, and is read as {account['name']}")

    def _insist(
        self, method: str, path: str, wanted: Collection[int], key: str = "", **options: Any
    ) -> requests.Response:
        """The answer, whatever stands in its way. A create is repeated with its `key`."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            answer = self._ask(method, path, headers, options)
            if answer is None:
                time.sleep(PAUSE)
            elif answer.status_code in wanted:
                self._ledger.count(str(answer.status_code))
                return answer
            elif answer.status_code == 401:
                self._authorization = {}
            else:
                self._refused(method, path, answer)
                time.sleep(PAUSE)

    def _ask(
        self, method: str, path: str, headers: dict[str, str], options: dict[str, Any]
    ) -> requests.Response | None:
        """None where the connection ended, or no token could be had."""
        servers = list(self._servers)
        url = servers[next(self._turns) % len(servers)].url
        try:
            if not self._authorization:
                credentials = {"username": self._username, "password": "demo"}
                answer = self._session.post(url + "/api/token", json=credentials, timeout=ANSWER_SECONDS)
                if answer.status_code != 200:
                    self._refused("POST", "/api/token", answer)
                    return None
                self._authorization = {"Authorization": f"Bearer {answer.json()['access']}"}
            given = {**headers, **self._authorization}
            return self._session.request(method, url + path, headers=given, timeout=ANSWER_SECONDS, **options)
        except requests.RequestException as error:
            if isinstance(error, requests.Timeout):
                self._ledger.fault(f"{method} {path} got no answer in {ANSWER_SECONDS} s")
            self._ledger.count("connection")
            return None

    def _refused(self, method: str, path: str, answer: requests.Response) -> None:
        try:
            code = answer.json()["code"]
        except (ValueError, LookupError):
            code = f"no problem: {answer.text[:200]}"
        self._ledger.count(f"{answer.status_code} {code}")
        if code not in LATER.get(answer.status_code, ()):
            self._ledger.fault(f"{method} {path}: {answer.status_code} {code} {answer.text[:300]}")


def is_ready(server: Server) -> bool:
    with suppress(requests.RequestException):
        return server.request("GET", "/health/ready").status_code == 200
    return False


@contextmanager
def load(servers: Sequence[Server], ledger: Ledger, callers: int = 6) -> Iterator[None]:
    """Callers at work on all of `servers` in turn, until the block ends; then they finish what they began.

    Who is in `servers` may change meanwhile.
    """
    over = threading.Event()
    usernames = itertools.cycle(("rep", "manager"))
    threads = [
        DrillCaller(servers, number, username, ledger, over)
        for number, username in zip(range(callers), usernames, strict=False)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(5 * ANSWER_SECONDS)
            if thread.is_alive():
                ledger.fault(f"{thread.name} never got an answer")
