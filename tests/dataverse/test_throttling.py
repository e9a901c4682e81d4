"""A platform that asks for a pause gets it: from every thread, and from every process that shares a Redis."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import format_datetime
from typing import Any

import pytest
import requests

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import Throttled
from crmclient.platform import Create
from crmclient.query.ast import Column, Query
from tests.contract.making import account
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import settings_for
from tests.dataverse.test_resilience import Counting
from tests.servers import Server, Site

API = "/api/data/"
TOKENS = "/oauth2/"
NAMES = Query("account", (Column("name"),), top=1)


def refusing(retry_after: str, path: str = API, times: int | None = None, **more: Any) -> dict[str, Any]:
    return {"path": path, "status": 429, "headers": {"Retry-After": retry_after}, "times": times, **more}


def throttled(call: Callable[[], object]) -> float:
    """The seconds that a refused caller is told."""
    with pytest.raises(Throttled) as raised:
        call()
    assert raised.value.retry_after is not None
    return raised.value.retry_after


CALLS: dict[str, Callable[[DataversePlatform, str], object]] = {
    "retrieve": lambda platform, id: platform.retrieve("account", id, ["name"]),
    "query": lambda platform, id: platform.query(NAMES),
    "create": lambda platform, id: platform.create("account", {"name": "x"}),
    "update": lambda platform, id: platform.update("account", id, {"name": "x"}),
    "delete": lambda platform, id: platform.delete("account", id),
    "batch": lambda platform, id: platform.batch([Create("account", {"name": "x"})]),
    "upload": lambda platform, id: platform.upload(
        "account", id, "new_contract", io.BytesIO(b"x"), file_name="a.pdf", content_type="application/pdf"
    ),
    "download": lambda platform, id: platform.download("account", id, "new_contract"),
    "execute": lambda platform, id: platform.execute("new_Ping", {"Message": "x"}),
    "refresh": lambda platform, id: platform.refresh_metadata(),
    "metadata": lambda platform, id: platform.attributes("incident"),
    "user": lambda platform, id: platform.user(platform.who()),
}


def test_after_a_refusal_nothing_is_sent_whatever_is_asked(failing: Failing) -> None:
    platform = failing.platform()
    id = account(platform)
    platform.processes()
    platform.upload(
        "account", id, "new_contract", io.BytesIO(b"x"), file_name="a.pdf", content_type="application/pdf"
    )
    platform.who()
    failing.arm(refusing("300"))
    first = throttled(lambda: platform.retrieve("account", id, ["name"]))
    assert failing.struck() == [1]

    with ThreadPoolExecutor(8) as threads:
        waits = list(
            threads.map(lambda call: throttled(lambda: call(platform, id)), list(CALLS.values()) * 4)
        )

    assert 299 < first <= 300
    assert max(waits) <= 300
    assert min(waits) > 200
    assert failing.struck() == [1]


def test_the_blocks_of_a_file_stop_with_the_refusal_of_one(failing: Failing) -> None:
    platform = failing.platform()
    id, content = account(platform), bytes(9_000_000)
    platform.upload(
        "account", id, "new_contract", io.BytesIO(content), file_name="a.pdf", content_type="application/pdf"
    )
    file = platform.download("account", id, "new_contract")
    assert file is not None
    next(file.chunks)
    failing.arm(refusing("300"))

    throttled(lambda: list(file.chunks))
    throttled(lambda: platform.download("account", id, "new_contract"))

    assert failing.struck() == [1]


def test_whoever_waits_for_a_place_is_not_sent_after_a_refusal(failing: Failing) -> None:
    platform = failing.platform(concurrency=2)
    failing.arm(refusing("300", delay=1))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: throttled(lambda: platform.query(NAMES)), range(4)))

    [sent] = failing.struck()
    assert 1 <= sent <= 2


def test_a_short_pause_is_waited_for_by_all(failing: Failing) -> None:
    seen = Counting()
    platform = failing.platform(observer=seen)
    seen.attempts.clear()
    failing.arm(refusing("1", times=1))
    began = time.monotonic()
    first = threading.Thread(target=lambda: platform.query(NAMES))
    first.start()
    while not seen.pauses:
        time.sleep(0.01)

    platform.query(NAMES)

    first.join()
    assert time.monotonic() - began >= 1
    assert seen.attempts == ["429", "200", "200"]
    assert seen.pauses == [(1, 1)]
    assert seen.admitted
    assert all(seen.admitted)


def test_a_later_refusal_that_asks_for_less_shortens_nothing(failing: Failing) -> None:
    platform = failing.platform()
    failing.arm(
        refusing("300", "/accounts", times=1, delay=0.2), refusing("100", "/contacts", times=1, delay=1)
    )
    platform.attributes("contact")

    def contacts() -> float:
        return throttled(lambda: platform.query(Query("contact", top=1)))

    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(contacts)
        while failing.struck() != [0, 1]:
            time.sleep(0.01)
        throttled(lambda: platform.query(NAMES))
        assert slow.result() > 200

    assert throttled(lambda: platform.query(NAMES)) > 200


def test_the_end_may_be_a_date(failing: Failing) -> None:
    platform = failing.platform()
    end = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=120)
    failing.arm(refusing(format_datetime(end, usegmt=True)))

    assert 60 < throttled(lambda: platform.query(NAMES)) <= 120
    assert 60 < throttled(lambda: platform.query(NAMES)) <= 120
    assert failing.struck() == [1]


@pytest.mark.parametrize("asked", ["99999999", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_nobody_waits_for_more_than_an_hour(failing: Failing, asked: str) -> None:
    seen = Counting()
    platform = failing.platform(observer=seen)
    failing.arm(refusing(asked))

    assert 3590 < throttled(lambda: platform.query(NAMES)) <= 3600
    [(seconds, wanted)] = seen.pauses
    assert seconds == 3600 < wanted


@pytest.mark.parametrize("asked", ["soon", "", "-5", "1e9", "9" * 5000, "Fri, 31 Dec 1999 23:59:59 GMT"])
def test_what_is_no_time_to_come_stops_nobody(failing: Failing, asked: str) -> None:
    platform = failing.platform(retries=0)
    failing.arm(refusing(asked, times=1))

    throttled(lambda: platform.query(NAMES))

    assert platform.query(NAMES).rows


def test_the_pause_of_the_token_endpoint_is_its_own(failing: Failing) -> None:
    platform, other = failing.platform(), failing.platform()
    failing.arm({"path": API, "status": 401}, refusing("300", TOKENS))

    for _ in range(5):
        assert throttled(lambda: platform.query(NAMES)) > 200

    assert failing.struck() == [1, 1]
    assert other.query(NAMES).rows


class Services:
    """Two processes of the service, and what arrives at the platform behind them."""

    def __init__(self, site: Site, crm: Server, **settings: str) -> None:
        common_settings = {**settings_for(crm), "CALLER_RATE": "0"}
        self.crm = crm
        self.servers = [site.start(**common_settings, **settings) for _ in range(2)]
        self._token = self.servers[0].token("manager")
        for server in self.servers:
            assert self.read(server).status_code == 200

    def read(self, server: Server) -> requests.Response:
        headers = {"Authorization": f"Bearer {self._token}"}
        return server.request("GET", f"/api/sales/accounts/{FIRST_ACCOUNT}", headers=headers)

    def arm(self, *faults: dict[str, Any]) -> None:
        requests.put(f"{self.crm.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()

    def arrived(self) -> int:
        answer = requests.get(f"{self.crm.url}/faults", timeout=30).json()
        return sum(fault["struck"] for fault in answer["faults"])

    def refused(self, server: Server, times: int) -> None:
        with ThreadPoolExecutor(8) as callers:
            for answer in callers.map(lambda _: self.read(server), range(times)):
                assert (answer.status_code, answer.json()["code"]) == (503, "platform_throttled")
                assert 200 < int(answer.headers["Retry-After"]) <= 300


@pytest.fixture
def crm(failing: Failing) -> Server:
    return failing.server


@pytest.mark.processes
def test_processes_with_a_redis_in_common_hold_to_one_pause(
    site: Site, crm: Server, store: subprocess.Popen[bytes]
) -> None:
    assert isinstance(store.args, list)
    cache_url = f"redis://127.0.0.1:{store.args[-1]}/0"
    services = Services(site, crm, CACHE_URL=cache_url)
    first, second = services.servers
    services.arm(refusing("300"))

    services.refused(first, 1)
    services.refused(second, 70)
    services.refused(first, 70)

    # A command is a process, too.
    code, output = site.run("checkplatform", **settings_for(crm), CACHE_URL=cache_url)
    assert (code, "failed  pause: " in output) == (1, True), output
    assert services.arrived() == 1
    assert "nothing is sent for 300 s" in first.output()
    # Both remember it by themselves.
    store.kill()
    store.wait(10)
    services.refused(first, 5)
    services.refused(second, 5)
    assert services.arrived() == 1


@pytest.mark.processes
def test_without_a_redis_each_process_holds_to_the_pause_it_was_asked_for(site: Site, crm: Server) -> None:
    services = Services(site, crm, CACHE_URL="")
    first, second = services.servers
    services.arm(refusing("300"))

    services.refused(first, 1)
    services.refused(first, 40)
    assert services.arrived() == 1
    services.refused(second, 1)
    services.refused(second, 40)

    assert services.arrived() == 2


@pytest.mark.processes
def test_a_redis_that_is_away_stops_nobody(site: Site, crm: Server) -> None:
    services = Services(site, crm, CACHE_URL="redis://127.0.0.1:1/0")
    services.arm(refusing("300"))

    services.refused(services.servers[0], 40)

    assert 1 <= services.arrived() <= 8
    assert "known per process" in services.servers[0].output()
