"""The service in front of a platform that fails: every failure is the contract's and in time, nothing is
doubled, and who asks for something else does not notice."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from crmbox.demo.people import FIRST_ACCOUNT
from tests.dataverse.reaching import settings_for
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes

PLATFORM_SECONDS = 2
# That calls are cut off is seen by their status: the slow answers would be good ones.
SLACK = 30.0
"""Seconds that a busy machine may take on top."""

RECORDS = f"/api/sales/accounts/{FIRST_ACCOUNT}"
FOREVER: dict[str, Any] = {"times": None}
ALWAYS: dict[str, Any] = {"path": "/api/data/", **FOREVER}


class Service:
    """The service, as the manager of sales calls it, and the platform behind it."""

    def __init__(self, server: Server, crm: Server) -> None:
        self._server, self._crm = server, crm
        self.log_in()

    def log_in(self) -> None:
        """With a token that nobody has seen yet."""
        self._headers = {"Authorization": f"Bearer {self._server.token('manager')}"}

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {**self._headers, **options.pop("headers", {})}
        return self._server.request(method, path, headers=headers, **options)

    def arm(self, *faults: dict[str, Any]) -> None:
        requests.put(f"{self._crm.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()

    def deny(self, *privileges: str) -> None:
        body = {"faults": [], "denied": privileges}
        requests.put(f"{self._crm.url}/faults", json=body, timeout=30).raise_for_status()

    def create(self, name: str, **options: Any) -> requests.Response:
        return self.ask("POST", "/api/sales/accounts", json={"name": name}, **options)

    def named(self, name: str) -> int:
        """How many accounts have the name."""
        return int(self.ask("GET", f"/api/sales/queries/accounts?name={name}").json()["count"])

    def recover(self) -> None:
        """Until the platform is trusted again."""
        self.arm()
        until(lambda: self.ask("GET", RECORDS).status_code == 200, pause=0.2)


@pytest.fixture(scope="module")
def _running(
    _prepared: Site, _failing_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with copied(_prepared, tmp_path_factory.mktemp("faults") / "service", "faults_service") as site:
        settings = {
            **settings_for(_failing_server),
            "CRM_CONCURRENCY": "6",
            "PLATFORM_TIMEOUT": str(PLATFORM_SECONDS),
            "ADDRESS_RATE": "0",
            "CALLER_RATE": "0",
        }
        yield Service(site.start(**settings), _failing_server)


@pytest.fixture
def service(_running: Service) -> Iterator[Service]:
    _running.recover()
    # Whatever there is to know of the platform is known from here on: what fails is the operation itself.
    for call in OPERATIONS.values():
        call(_running)
    _running.ask("GET", "/optionsets/priorities")
    yield _running
    _running.recover()


def upload(service: Service) -> requests.Response:
    part = {"file": ("a.pdf", io.BytesIO(b"%PDF-1.4\n" + b"x" * 100), "application/pdf")}
    return service.ask("POST", f"{RECORDS}/files/contract", files=part)


OPERATIONS: dict[str, Callable[[Service], requests.Response]] = {
    "read": lambda service: service.ask("GET", RECORDS),
    "create": lambda service: service.create("Failing"),
    "create with a list": lambda service: service.ask(
        "POST", "/api/sales/accounts", json={"name": "Failing", "contacts": [{"lastName": "Failing"}]}
    ),
    "update": lambda service: service.ask("PATCH", RECORDS, json={"phone": "1"}),
    "delete": lambda service: service.ask("DELETE", RECORDS, headers={"If-Match": '"1"'}),
    "action": lambda service: service.ask("POST", f"{RECORDS}/actions/approve", json={"comment": "x"}),
    "single query": lambda service: service.ask(
        "GET", f"/api/sales/queries/account?accountId={FIRST_ACCOUNT}"
    ),
    "multi query": lambda service: service.ask("GET", "/api/sales/queries/pipeline"),
    "paginated query": lambda service: service.ask("GET", "/api/sales/queries/accounts"),
    "upload": upload,
    "download": lambda service: service.ask("GET", f"{RECORDS}/files/contract"),
    "notes": lambda service: service.ask("GET", f"{RECORDS}/files/notes"),
}
FAULTS: dict[str, dict[str, Any]] = {
    # Longer than anybody waits, and soon over: the pause outlives the fault.
    "throttled": {"status": 429, "headers": {"Retry-After": "4"}},
    "away": {"status": 503},
    "failed": {"status": 500, "body": "<html>CRM-HOST-7 stack</html>"},
    "proxy failed": {"status": 502, "body": "<html>CRM-HOST-7</html>"},
    "proxy timed out": {"status": 504},
    "login page": {"status": 200, "body": "<html>CRM-HOST-7 login</html>"},
    "another's JSON": {"status": 200, "body": '{"value": 5, "name": "CRM-HOST-7"}'},
    "error in a success": {"status": 200, "body": '{"error": {"code": "0x1", "message": "CRM-HOST-7"}}'},
    "redirect": {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}},
    "not authorised": {"status": 401},
    "page of a 404": {"status": 404, "body": "<html>CRM-HOST-7</html>"},
    "page of a 400": {"status": 400, "body": "<html>CRM-HOST-7</html>"},
    "cut off": {"cut": "half"},
    "lost": {"cut": "answer"},
    "slow": {"delay": 3 * PLATFORM_SECONDS},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_failure_is_the_contracts(service: Service, fault: str) -> None:
    service.arm({**ALWAYS, **FAULTS[fault]})

    for name, call in OPERATIONS.items():
        began = time.monotonic()
        answer = call(service)
        seconds = time.monotonic() - began

        assert answer.status_code in (502, 503, 504), (name, answer.status_code, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"].startswith("platform_"), (name, answer.text)
        assert answer.status_code != 503 or int(answer.headers["Retry-After"]) > 0, name
        assert "CRM-HOST-7" not in answer.text, name
        # Some operations call the platform twice.
        assert seconds < 2 * PLATFORM_SECONDS + SLACK, (name, seconds)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 200, "body": "<html>CRM-HOST-7 login</html>"},
        {"status": 200, "body": '{"access_token": 5}'},
        {"status": 400, "body": '{"error": "invalid_client", "error_description": "CRM-HOST-7"}'},
        {"status": 429, "headers": {"Retry-After": "4"}},
        {"status": 500, "body": "CRM-HOST-7"},
        {"status": 503},
        {"cut": "answer"},
        {"delay": 3 * PLATFORM_SECONDS},
    ],
    ids=["a page", "no token", "a wrong secret", "throttled", "failed", "away", "lost", "slow"],
)
def test_a_token_that_cannot_be_had_is_a_failure_of_the_platform(
    service: Service, fault: dict[str, Any]
) -> None:
    # Not the call for the caller's own context: what it told last would stand, and the token, too.
    refused = {"path": rf"/accounts\({FIRST_ACCOUNT}\)", "status": 401}
    service.arm(refused, {**FOREVER, "path": "/oauth2/", **fault})

    began = time.monotonic()
    answer = service.ask("GET", RECORDS)

    assert answer.status_code in (502, 503, 504), answer.text
    assert answer.json()["code"].startswith("platform_")
    assert answer.status_code != 503 or int(answer.headers["Retry-After"]) > 0
    assert "CRM-HOST-7" not in answer.text
    assert time.monotonic() - began < PLATFORM_SECONDS + SLACK
    assert service.ask("GET", "/optionsets/priorities").status_code == 200


def test_the_time_for_a_platform_call_counts_for_each_call(service: Service) -> None:
    """The upload reads the account, creates a note and stores its file."""
    delay = 0.45 * PLATFORM_SECONDS
    service.arm({"path": "/api/data/", "delay": delay, "times": 3})
    part = {"file": ("a.pdf", io.BytesIO(b"%PDF-1.4\n" + b"x" * 100), "application/pdf")}

    began = time.monotonic()
    answer = service.ask("POST", f"{RECORDS}/files/notes", files=part)

    assert answer.status_code == 200, answer.text
    assert time.monotonic() - began > PLATFORM_SECONDS


def test_a_create_whose_answers_are_all_lost_is_made_once(service: Service) -> None:
    name, key = uuid.uuid4().hex, {"Idempotency-Key": uuid.uuid4().hex}
    service.arm({**FOREVER, "method": "POST", "path": "/accounts$", "executed": True, "cut": "answer"})
    lost = service.create(name, headers=key)
    service.recover()

    again = [service.create(name, headers=key) for _ in range(2)]

    # The client itself looks whether its record is there, so the caller need not notice.
    assert lost.status_code in (200, 503), lost.text
    assert [answer.status_code for answer in again] == [200, 200], [answer.text for answer in again]
    assert again[0].json() == again[1].json()
    assert service.named(name) == 1


def test_a_create_by_an_account_that_may_not_read_is_made_once(service: Service) -> None:
    name, key = uuid.uuid4().hex, {"Idempotency-Key": uuid.uuid4().hex}
    service.deny("prvReadAccount")
    service.arm({"method": "POST", "path": "/accounts$", "executed": True, "status": 500})
    lost = service.create(name, headers=key)

    again = service.create(name, headers=key)

    service.deny()
    assert lost.status_code == 502, lost.text
    assert again.status_code == 200, again.text
    assert service.named(name) == 1


@pytest.mark.parametrize("path", ["/accounts$", r"/\$batch$"])
@pytest.mark.parametrize("cut", ["answer", "half"])
def test_a_create_without_a_key_is_not_doubled_by_the_service(service: Service, path: str, cut: str) -> None:
    name = uuid.uuid4().hex
    body: dict[str, Any] = {"name": name}
    if "batch" in path:
        body["contacts"] = [{"lastName": name}]
    service.arm({"method": "POST", "path": path, "executed": True, "cut": cut})

    answer = service.ask("POST", "/api/sales/accounts", json=body)

    assert answer.status_code in (200, 503), answer.text
    service.recover()
    assert service.named(name) == 1


def _timed(service: Service, path: str) -> tuple[int, float]:
    """The status, and the seconds until it came."""
    began = time.monotonic()
    status = service.ask("GET", path).status_code
    return status, time.monotonic() - began


def test_a_slow_entity_leaves_all_else_alone(service: Service) -> None:
    service.ask("POST", "/api/sales/actions/ping", json={"message": "Warm"})
    service.arm({**FOREVER, "path": "/accounts", "delay": PLATFORM_SECONDS * 0.8})

    with ThreadPoolExecutor(40) as threads:
        slow = [threads.submit(_timed, service, RECORDS) for _ in range(40)]
        # Those who find every place taken are refused at once.
        until(lambda: any(each.done() for each in slow))
        others = [_timed(service, path) for path in ("/optionsets/priorities", "/health/ready")]
        answers = [each.result() for each in slow]

    assert [status for status, _ in others] == [200, 200]
    # Who had waited for a thread of the slow ones would have waited for the first of these.
    assert sum(seconds for _, seconds in others) < min(
        seconds for status, seconds in answers if status == 200
    )
    outcomes = {status for status, _ in answers}
    # Six are at the platform, six wait for their turn, and the others are told to come again.
    assert 503 in outcomes
    assert outcomes <= {200, 503, 504}


@pytest.mark.parametrize("fault", ["throttled", "away", "failed", "lost", "slow"])
def test_who_is_known_is_answered_what_needs_no_platform(service: Service, fault: str) -> None:
    service.arm({**ALWAYS, **FAULTS[fault]})
    service.log_in()

    began = time.monotonic()
    answer = service.ask("GET", "/optionsets/priorities")

    assert answer.status_code == 200, answer.text
    assert time.monotonic() - began < PLATFORM_SECONDS + SLACK
    assert service.ask("GET", RECORDS).status_code in (502, 503, 504)


def test_nothing_is_lost_of_what_follows(service: Service) -> None:
    """After all kinds of failures the same answers come as before."""
    before = service.ask("GET", "/api/sales/queries/accounts?pageSize=5&order=created").content
    for fault in FAULTS.values():
        service.arm({**ALWAYS, **fault, "times": 1})
        service.ask("GET", "/api/sales/queries/accounts?pageSize=5&order=created")
    service.recover()

    after = service.ask("GET", "/api/sales/queries/accounts?pageSize=5&order=created")

    assert _without_cursor(after.content) == _without_cursor(before)


def _without_cursor(body: bytes) -> bytes:
    return body.partition(b'"cursor"')[0]
