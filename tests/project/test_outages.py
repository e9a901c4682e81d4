"""An outage is a few lines in the log: that it began, and by what, that it lasts, and that it is over."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.outages import QUIET, REMINDER, Outage
from tests.dataverse.reaching import settings_for
from tests.observability import Figures, lines, requests_logged
from tests.servers import Server, Site, copied, until

READ = f"/api/sales/accounts/{FIRST_ACCOUNT}"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outage(clock: Clock) -> Outage:
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
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(150):
        outage.failed(ValueError())
        clock.now += 1
    assert told(caplog) == [("it is away", None, None), ("still", 61, 60.0), ("still", 121, 120.0)]
    assert not caplog.records[1].exc_info
    assert REMINDER == 60


def test_the_end_is_told_with_how_long_it_lasted(
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
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
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        outage.failed()
        clock.now += QUIET / 2
        outage.worked()
    assert len(told(caplog)) == 1


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
