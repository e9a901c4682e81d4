"""Callers at work while the disk that holds the database fills up, and has room again."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.drills.conftest import UNLIMITED
from tests.drills.ledger import Ledger, held
from tests.drills.load import is_ready, load
from tests.drills.outages import going_on
from tests.servers import Site, copied, until, until_not

pytestmark = [pytest.mark.drill, pytest.mark.processes]

SIZE = "64M"
# So little that nothing finds room when none of it does.
CRUMB = 512


@pytest.fixture
def on_a_small_disk(_prepared: Site, tmp_path: Path) -> Iterator[Site]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "drill", str(disk)], check=True)
    try:
        with copied(_prepared, disk / "data", "drill_disk") as own:
            own.environment |= UNLIMITED
            yield own
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_nothing_is_lost_or_doubled_while_the_disk_is_full(on_a_small_disk: Site, seconds: float) -> None:
    site = on_a_small_disk
    server = site.start(WORKERS="2")
    filling = Path(site.environment["DATA_DIR"]).parent / "filling"
    ledger, ready = Ledger(), list[int]()

    def fill_and_empty() -> None:
        with filling.open("ab", buffering=0) as file:
            _fill(file.fileno())
            time.sleep(seconds / 8)
            # What it said last holds for some seconds.
            ready.append(until_not(200, lambda: server.request("GET", "/health/ready")).status_code)
        filling.unlink()

    with load([server], ledger), going_on(fill_and_empty, pause=seconds / 8) as failed:
        time.sleep(seconds)
    until(lambda: is_ready(server))
    print(ledger.report(), f"Ready, while full: {ready}.")
    assert failed == []
    assert set(ready) == {503}
    assert any(answer.startswith(("507", "503")) for answer in ledger.answers)
    assert ledger.faults == []
    assert ledger.compare(held(site)) == []


def _fill(file: int) -> None:
    with suppress(OSError):
        while True:
            os.write(file, bytes(CRUMB))
