"""An outage is a few lines in the log: that it began, and by what, that it lasts, and that it is over."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient import outages
from crmclient.outages import QUIET, REMINDER, Outage
from project.observability.shared_figures import FOLDER
from project.observability.shared_outages import SharedOutages
from tests.clocks import SetClock
from tests.dataverse.reaching import settings_for
from tests.observability import Figures, lines, requests_logged
from tests.servers import Server, Site, copied, until

READ = f"/api/sales/accounts/{FIRST_ACCOUNT}"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def outage(clock: SetClock) -> Outage:
    return Outage(logging.getLogger("portico.try"), "it is away", "it is back", still="still", clock=clock)


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, Any, Any]]:
    return [
        (line.message, getattr(line, "failures", None), getattr(line, "outage_seconds", None))
        for line in caplog.records
    ]


def test_only_the_first_failure_is_told_with_its_error(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(100):
        outage.failed(ValueError(str(number)))
    assert told(caplog) == [("it is away", None, None)]
    assert caplog.records[0].exc_info


def test_an_outage_that_lasts_is_told_of_now_and_then(
    outage: Outage, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(150):
        outage.failed(ValueError())
        clock.now += 1
    assert told(caplog) == [("it is away", None, None), ("still", 61, 60.0), ("still", 121, 120.0)]
    assert not caplog.records[1].exc_info
    assert REMINDER == 60


def test_the_end_is_told_with_how_long_it_lasted(
    outage: Outage, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    outage.failed()
    clock.now += 30
    outage.failed()
    clock.now += 2 * QUIET
    outage.worked()
    outage.worked()
    assert told(caplog)[1:] == [("it is back", 2, 30.0)]
    outage.failed()
    assert told(caplog)[2:] == [("it is away", None, None)]


def test_what_comes_and_goes_is_one_outage(
    outage: Outage, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        outage.failed()
        clock.now += QUIET / 2
        outage.worked()
    assert len(told(caplog)) == 1


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: SetClock) -> list[Outage]:
    """What two processes that have a folder in common know of one thing."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(outages, "_place", SharedOutages())
    return [Outage(logging.getLogger("portico.try"), "it is away", "it is back", clock=clock) for _ in "12"]


def test_processes_that_see_one_outage_tell_it_once(
    both: list[Outage], clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = both
    for _ in range(3):
        one.failed(ValueError())
        other.failed(ValueError())
    assert told(caplog) == [("it is away", None, None)]
    clock.now += QUIET
    other.failed()
    clock.now += QUIET - 1
    one.worked()
    assert len(told(caplog)) == 1, "the other has just seen it fail"
    clock.now += 1
    one.worked()
    other.worked()
    assert told(caplog)[1:] == [("it is back", 7, QUIET)]
    other.failed()
    one.failed()
    assert told(caplog)[2:] == [("it is away", None, None)]


def test_what_only_a_dead_process_has_seen_is_told_anew(
    both: list[Outage], caplog: pytest.LogCaptureFixture
) -> None:
    process = multiprocessing.get_context("fork").Process(target=both[0].failed)
    process.start()
    process.join()
    both[1].failed()
    assert told(caplog) == [("it is away", None, None)]


def test_a_folder_that_takes_nothing_leaves_each_to_itself(
    both: list[Outage], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(FOLDER, "/nowhere")
    for outage in both:
        outage.failed()
        outage.failed()
    assert told(caplog) == [("it is away", None, None)] * 2


@pytest.fixture
def crm(_prepared: Site, tmp_path: Path) -> Iterator[Server]:
    with copied(_prepared, tmp_path / "crm", "outage_crm") as crm:
        yield crm.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


@pytest.mark.processes
def test_requests_that_fail_while_the_platform_is_away_are_one_fact(site: Site, crm: Server) -> None:
    server = site.start(**settings_for(crm), ADDRESS_RATE="0", CALLER_RATE="0")
    token = {"Authorization": f"Bearer {server.token('manager')}"}
    assert server.request("GET", READ, headers=token).status_code == 200

    def arm(*faults: dict[str, Any]) -> None:
        requests.put(f"{crm.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()

    arm({"path": "/api/data/", "times": None, "status": 503})
    refused = [server.request("GET", READ, headers=token) for _ in range(60)]
    assert {answer.status_code for answer in refused} == {503}
    last = refused[-1].headers["X-Request-Id"]
    (line,) = requests_logged(server, request_id=last)
    assert line["code"] == "platform_unavailable"

    (fact,) = lines(server, logger="portico.failures")
    assert fact["event"] == "request failed"
    assert fact["code"] == "platform_unavailable"
    assert fact["endpoint"] == "sales.accounts.read"
    assert "Unavailable" in fact["exception"]
    assert fact["request_id"] == refused[0].headers["X-Request-Id"]
    assert not lines(server, logger="django.request")
    # One of the circuit, which opened.
    assert len(lines(server, logger="portico.platform")) == 1
    assert len(lines(server, logger="portico.access", code="platform_unavailable")) == 60
    assert Figures(server).sum("platform_circuit_open") == 1
    assert Figures(server).sum("refusals_total", code="platform_unavailable") == 60

    arm()
    until(lambda: server.request("GET", READ, headers=token).status_code == 200, pause=0.3)
    assert [line["event"] for line in lines(server, logger="portico.platform")][
        -1
    ] == "Dataverse answers again"
    ends = {"event": "requests of this kind do not fail any more"}
    until(
        lambda: (
            server.request("GET", READ, headers=token) and lines(server, logger="portico.failures", **ends)
        ),
        pause=0.3,
    )
    (end,) = lines(server, logger="portico.failures", **ends)
    assert end["failures"] >= 60
    assert end["outage_seconds"] > 0
    until(lambda: Figures(server).sum("platform_circuit_open") == 0)


@pytest.mark.processes
def test_an_outage_is_one_fact_however_many_workers_see_it(site: Site, crm: Server) -> None:
    server = site.start(**settings_for(crm), ADDRESS_RATE="0", CALLER_RATE="0", WORKERS="3")
    token = {"Authorization": f"Bearer {server.token('manager')}"}

    def arm(*faults: dict[str, Any]) -> None:
        requests.put(f"{crm.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()

    def statuses() -> set[int]:
        """Of many requests at once: each of the workers gets some."""
        with ThreadPoolExecutor(12) as pool:
            asked = [pool.submit(server.request, "GET", READ, headers=token) for _ in range(60)]
            return {each.result().status_code for each in asked}

    until(lambda: statuses() == {200}, pause=0.3)
    arm({"path": "/api/data/", "times": None, "status": 503})
    assert statuses() == {503}
    (fact,) = lines(server, logger="portico.failures")
    assert (fact["event"], fact["code"]) == ("request failed", "platform_unavailable")
    assert len(lines(server, logger="portico.platform")) == 1

    arm()
    ends = {"event": "requests of this kind do not fail any more"}
    until(lambda: statuses() == {200} and lines(server, logger="portico.failures", **ends), pause=0.3)
    (_, back) = lines(server, logger="portico.platform")
    assert back["event"] == "Dataverse answers again"
    (end,) = lines(server, logger="portico.failures", **ends)
    refused = lines(server, logger="portico.access", code="platform_unavailable")
    assert end["failures"] == len(refused)
