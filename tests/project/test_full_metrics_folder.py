"""Where metrics have no room the service goes on, and says so once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.observability import lines, requests_logged
from tests.servers import Site, until

# Less than the files of a process take.
LEFT = 96 * 1024


@pytest.mark.processes
def test_a_service_whose_metrics_have_no_room_goes_on_answering(site: Site, full: Path) -> None:
    left = os.statvfs(full)
    (full / "rest").write_bytes(bytes(left.f_bavail * left.f_frsize - LEFT))
    server = site.start(PROMETHEUS_MULTIPROC_DIR=str(full), WORKERS="2", ADDRESS_RATE="0")
    for _ in range(20):
        assert server.request("GET", "/api/context").status_code == 401
        assert server.request("GET", "/metrics").status_code == 200
    until(lambda: len(requests_logged(server, endpoint="/api/context")) == 20)
    assert server.process.poll() is None
    told = lines(server, logger="portico.ledger")
    # One of each process.
    assert 1 <= len(told) <= 2
    assert {line["event"] for line in told} == {"Metrics cannot be kept."}
    assert "errno=28" in told[0]["exception"]
