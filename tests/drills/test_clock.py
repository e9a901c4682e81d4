"""Callers at work while the machine's clock jumps, forward and back."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from tests.clocks import clock_of
from tests.drills.ledger import Ledger, held
from tests.drills.load import is_ready, load
from tests.drills.outages import going_on
from tests.servers import Site, until

pytestmark = [pytest.mark.drill, pytest.mark.processes]

# Tokens end with the first, and those made then come from the future after the second.
JUMPS = ("+90m", "-60m", "+3h", "+0")


def test_nothing_is_lost_or_doubled_while_the_clock_jumps(
    alone: Site, tmp_path: Path, seconds: float
) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0", encoding="ascii")
    server = alone.start(WORKERS="2", **clock_of(clock))
    jumps = itertools.cycle(JUMPS)
    ledger, dates = Ledger(), set[str]()

    def jump() -> None:
        clock.write_text(next(jumps), encoding="ascii")

    def look() -> None:
        dates.add(server.request("GET", "/health/live").headers["Date"][: -len(":00:00 GMT")])

    with load([server], ledger), going_on(jump, pause=seconds / 9), going_on(look, pause=1):
        time.sleep(seconds)
    clock.write_text("+0", encoding="ascii")
    until(lambda: is_ready(server))
    print(ledger.report(), f"The server answered in the hours {sorted(dates)}.")
    assert len(dates) > 1, "The server's clock did not jump."
    assert ledger.faults == []
    assert ledger.compare(held(alone)) == []
