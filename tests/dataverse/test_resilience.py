"""What a failing platform is to its callers: the right error, in time, and nothing done twice."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crmclient import Call
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import (
    DeadlineExceeded,
    PlatformFailure,
    RecordNotFound,
    Throttled,
    Unavailable,
    UnexpectedAnswer,
    VersionMismatch,
)
from crmclient.platform import Share
from crmclient.query.ast import Column, Query
from tests.contract.making import accounts, named, unique
from tests.dataverse.conftest import Failing

SET = "/accounts"
FOREVER: dict[str, Any] = {"times": None}


class Counting:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.attempts: list[str] = []
        self.retries: list[str] = []
        self.admitted: list[bool] = []
        self.circuits: list[bool] = []
        self.pauses: list[tuple[float, float]] = []
        self.spenders: list[tuple[Share, str]] = []
        self.refusals: list[tuple[Share, str]] = []

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        self.attempts.append(outcome)

    def retried(self, reason: str) -> None:
        self.retries.append(reason)

    def waited(self, seconds: float, *, admitted: bool) -> None:
        self.admitted.append(admitted)

    def circuit(self, *, open: bool) -> None:
        self.circuits.append(open)

    def throttled(self, seconds: float, *, asked_seconds: float) -> None:
        self.pauses.append((seconds, asked_seconds))

    def spent(self, call: Call) -> None:
        self.spenders.append((call.share, call.spender))

    def refused(self, call: Call) -> None:
        self.refusals.append((call.share, call.spender))


def within(seconds: float) -> Call:
    return Call(deadline=time.monotonic() + seconds)


def timed(do: Callable[[], object]) -> float:
    began = time.monotonic()
    do()
    return time.monotonic() - began


def count(platform: DataversePlatform, name: str) -> int:
    return len(platform.query(accounts(named(name))).rows)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "GET"])
def test_a_platform_that_asks_for_patience_gets_it(failing: Failing, method: str, status: int) -> None:
    platform = failing.platform()
    id = platform.create("account", {"name": "Patient"}).id
    failing.arm({"method": method, "path": SET, "status": status, "headers": {"Retry-After": "1"}})
    calls: dict[str, Callable[[], object]] = {
        "POST": lambda: platform.create("account", {"name": "Patient"}),
        "PATCH": lambda: platform.update("account", id, {"fax": "1"}),
        "DELETE": lambda: platform.delete("account", id),
        "GET": lambda: platform.retrieve("account", id, ["name"]),
    }

    assert timed(calls[method]) >= 1
    assert failing.struck() == [1]


@pytest.mark.parametrize(("status", "error"), [(429, Throttled), (503, Unavailable)])
def test_who_must_wait_too_long_is_told_at_once(
    failing: Failing, status: int, error: type[PlatformFailure]
) -> None:
    platform = failing.platform()
    failing.arm({"path": SET, "status": status, "headers": {"Retry-After": "120"}, **FOREVER})

    with pytest.raises(error) as raised:
        platform.create("account", {"name": "x"}, call=within(5))

    assert raised.value.retry_after == 120
    assert failing.struck() == [1]


def test_a_platform_that_is_away_for_long_keeps_nobody_waiting(failing: Failing) -> None:
    """Unlike a 429, a 503 may be the answer of one server to one request: the next one is sent."""
    platform = failing.platform()
    failing.arm({"path": SET, "status": 503, "headers": {"Retry-After": "4"}})

    with pytest.raises(Unavailable) as raised:
        platform.create("account", {"name": "x"})
    platform.create("account", {"name": "x"})

    assert raised.value.retry_after == 4
    assert failing.struck() == [1]


@pytest.mark.parametrize("cut", ["answer", "half"])
def test_a_create_whose_answer_is_lost_is_not_doubled(failing: Failing, cut: str) -> None:
    platform, name = failing.platform(), unique("Once")
    failing.arm({"method": "POST", "path": f"{SET}$", "executed": True, "cut": cut})

    stored = platform.create("account", {"name": name})

    assert failing.struck() == [1]
    assert platform.retrieve("account", stored.id, ["name"]).version == stored.version
    assert count(platform, name) == 1


def test_a_create_that_never_arrived_is_made(failing: Failing) -> None:
    platform, name = failing.platform(), unique("Second try")
    failing.arm({"method": "POST", "path": f"{SET}$", "cut": "answer"})

    platform.create("account", {"name": name})

    assert count(platform, name) == 1


@pytest.mark.parametrize("fault", [{"cut": "answer"}, {"cut": "half"}, {"status": 502}, {"status": 504}])
def test_reads_are_repeated(failing: Failing, fault: dict[str, Any]) -> None:
    platform, name = failing.platform(), unique("Read")
    id = platform.create("account", {"name": name}).id
    failing.arm({"method": "GET", "path": SET, "times": 2, **fault})

    assert platform.retrieve("account", id, ["name"]).values == {"name": name}
    assert failing.struck() == [2]
    failing.arm({"method": "GET", "path": SET, **fault})
    assert count(platform, name) == 1


def test_an_update_whose_answer_is_lost_is_not_repeated(failing: Failing) -> None:
    platform = failing.platform()
    created = platform.create("account", {"name": "Before"})
    failing.arm({"method": "PATCH", "path": SET, "executed": True, "cut": "answer", **FOREVER})

    with pytest.raises(Unavailable):
        platform.update("account", created.id, {"name": "After"}, if_version=created.version)

    assert failing.struck() == [1]
    assert platform.retrieve("account", created.id, ["name"]).values == {"name": "After"}
    failing.arm()
    with pytest.raises(VersionMismatch):
        platform.update("account", created.id, {"name": "Again"}, if_version=created.version)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 500, "body": "<html>secret stack</html>"}, UnexpectedAnswer),
        ({"status": 200, "body": "<html>login</html>"}, UnexpectedAnswer),
        ({"status": 200, "body": "[]"}, UnexpectedAnswer),
        ({"status": 200, "body": '{"error": {"code": "0x1", "message": "no"}}'}, UnexpectedAnswer),
        ({"status": 200, "body": '{"value": 5}'}, UnexpectedAnswer),
        ({"status": 200, "body": '{"value": [5]}'}, UnexpectedAnswer),
        ({"status": 200, "body": '{"value": [{"name": 5}]}'}, UnexpectedAnswer),
        ({"status": 200, "body": '{"name": 5}'}, UnexpectedAnswer),
        ({"status": 200, "body": '{"value": [], "value": []}'}, UnexpectedAnswer),
        ({"status": 200, "body": ""}, UnexpectedAnswer),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, UnexpectedAnswer),
        ({"status": 404, "body": "<html>not here</html>"}, UnexpectedAnswer),
        ({"status": 400, "body": "<html>bad gateway config</html>"}, UnexpectedAnswer),
        ({"status": 418}, UnexpectedAnswer),
        ({"status": 401}, UnexpectedAnswer),
        ({"status": 502}, UnexpectedAnswer),
        ({"status": 504}, DeadlineExceeded),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_platform(
    failing: Failing, fault: dict[str, Any], error: type[PlatformFailure]
) -> None:
    platform = failing.platform(retries=0)
    id = platform.create("account", {"name": "x"}).id
    failing.arm({"path": SET, **fault, **FOREVER})

    for call in (
        lambda: platform.query(Query("account", (Column("name"),))),
        lambda: platform.retrieve("account", id, ["name"]),
        lambda: platform.create("account", {"name": "x"}),
        lambda: platform.update("account", id, {"name": "x"}),
    ):
        with pytest.raises(error) as raised:
            call()
        assert "secret" not in str(raised.value)


def test_a_token_that_is_refused_is_fetched_anew(failing: Failing) -> None:
    platform = failing.platform()
    failing.arm({"path": SET, "status": 401})

    assert platform.create("account", {"name": "x"}).id
    assert failing.struck() == [1]


def test_an_answer_that_is_too_large_is_not_read_to_its_end(failing: Failing) -> None:
    platform = failing.platform(largest_answer=1_000_000)
    failing.arm({"path": SET, "status": 200, "body": '{"value": ["' + "x" * 2_000_000 + '"]}'})

    with pytest.raises(UnexpectedAnswer, match="larger than"):
        platform.query(Query("account", (Column("name"),)))


@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_a_deadline_ends_a_call_that_hangs(failing: Failing, seconds: float) -> None:
    platform = failing.platform()
    failing.arm({"path": SET, "delay": 10, **FOREVER})

    def call() -> None:
        with pytest.raises(DeadlineExceeded):
            platform.query(Query("account"), call=within(seconds))

    # Long before the answer.
    assert timed(call) < 10


def test_a_deadline_ends_the_retries_too(failing: Failing) -> None:
    platform = failing.platform(retries=1000)
    failing.arm({"path": SET, "cut": "answer", **FOREVER})

    def call() -> None:
        with pytest.raises(PlatformFailure):
            platform.query(Query("account"), call=within(1))

    assert timed(call) < 1.5


def test_nobody_listening_is_unavailable(failing: Failing) -> None:
    from crmclient.dataverse.options import Options
    from tests.dataverse.reaching import credentials

    platform = DataversePlatform(Options("http://127.0.0.1:1", retries=1), credentials(failing.server.url))

    with pytest.raises(Unavailable):
        platform.who()


def test_the_circuit_opens_and_closes_again(failing: Failing) -> None:
    seen = Counting()
    platform = failing.platform(retries=0, observer=seen)
    failing.arm({"path": SET, "cut": "answer", **FOREVER})
    for _ in range(8):
        with pytest.raises(Unavailable):
            platform.retrieve("account", str(uuid.uuid4()), [])
    [before] = failing.struck()

    with pytest.raises(Unavailable) as raised:
        platform.retrieve("account", str(uuid.uuid4()), [])

    assert raised.value.retry_after is not None
    assert failing.struck() == [before]
    failing.arm()
    time.sleep(2.1)
    with pytest.raises(RecordNotFound):
        platform.retrieve("account", str(uuid.uuid4()), [])
    assert seen.circuits == [True, False]


def test_one_probe_at_a_time_while_the_circuit_is_half_open(failing: Failing) -> None:
    platform = failing.platform(retries=0)
    failing.arm({"path": SET, "cut": "answer", **FOREVER})
    for _ in range(8):
        with pytest.raises(Unavailable):
            platform.retrieve("account", str(uuid.uuid4()), [])
    time.sleep(2.1)
    failing.arm({"path": SET, "delay": 5, **FOREVER})

    def probe(_: int) -> type[Exception]:
        try:
            platform.retrieve("account", str(uuid.uuid4()), [])
        except Exception as error:
            return type(error)
        raise AssertionError

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(probe, range(8)))

    assert sorted(kind.__name__ for kind in outcomes) == ["RecordNotFound"] + ["Unreachable"] * 7


def test_no_more_than_the_bulkheads_size_at_once(failing: Failing) -> None:
    seen = Counting()
    platform = failing.platform(concurrency=2, observer=seen)
    failing.arm({"path": SET, "delay": 8, **FOREVER})
    refused: list[float] = []

    def call(_: int) -> None:
        began = time.monotonic()
        try:
            platform.query(Query("account", top=1), call=within(30))
        except Unavailable:
            refused.append(time.monotonic() - began)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(call, range(6)))

    assert len(refused) == 4
    # Before any place came free.
    assert max(refused) < 8
    assert seen.admitted.count(False) == 4


def test_a_slow_entity_leaves_the_others_alone(failing: Failing) -> None:
    platform = failing.platform()
    platform.attributes("contact")
    failing.arm({"path": SET, "delay": 2, **FOREVER})
    slow = threading.Thread(target=lambda: platform.query(Query("account", top=1)))
    slow.start()

    assert timed(lambda: platform.query(Query("contact", top=1))) < 1
    slow.join()


def test_what_happens_is_told_to_the_observer(failing: Failing) -> None:
    seen = Counting()
    platform = failing.platform(observer=seen)
    seen.attempts.clear()
    failing.arm({"path": SET, "status": 503}, {"path": SET, "cut": "answer"})

    platform.query(Query("account", top=1))

    assert (seen.attempts, seen.retries) == (["503", "lost", "200"], ["503", "lost"])
