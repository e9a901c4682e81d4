"""Where metrics have no room the service goes on, and says so once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client import values as values_module

from project.observability import shared_figures
from tests.observability import lines, requests_logged
from tests.servers import Site, until

# It has no types.
values: Any = values_module

# Less than the files of a process take.
LEFT = 96 * 1024


def fill(folder: Path, left: int) -> None:
    """Fill the file system of `folder`, but for `left` bytes."""
    space = os.statvfs(folder)
    (folder / "rest").write_bytes(bytes(space.f_bavail * space.f_frsize - left))


@contextmanager
def going_on(act: Callable[[], None]) -> Iterator[None]:
    """Let a thread do `act` again and again in this block."""
    ends = False

    def again() -> None:
        while not ends:
            act()

    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(again)
        try:
            yield
        finally:
            ends = True
        acting.result()


def test_a_scrape_never_sees_a_file_that_has_got_no_room(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shared_figures.FOLDER, str(full))
    monkeypatch.setattr(values, "MmapedDict", values.MmapedDict)
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    shared_figures.use()
    Counter("kept", "Has got its room.", registry=CollectorRegistry()).inc()
    fill(full, 0)
    refused = 0

    def keep_another() -> None:
        nonlocal refused
        with suppress(OSError):
            values.ValueClass = values.MultiProcessValue(lambda: 99)
            Counter("another", "Gets none.", registry=CollectorRegistry()).inc()
            return
        refused += 1

    with going_on(keep_another):
        for _ in range(300):
            registry = shared_figures.shared()
            assert registry is not None
            assert b"kept_total 1.0" in generate_latest(registry)
    assert refused > 100
    assert [file.name for file in full.glob("*_99.*")] == []


@pytest.mark.processes
def test_a_service_whose_metrics_have_no_room_goes_on_answering(site: Site, full: Path) -> None:
    fill(full, LEFT)
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
