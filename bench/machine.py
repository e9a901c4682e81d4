"""The machine, and how much of it others used meanwhile: by that much the figures are worth less."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

from bench.servers import Server

_TICK = os.sysconf("SC_CLK_TCK")
# Columns of the first line of /proc/stat: idle and iowait are not work.
_IDLE = (4, 5)


def describe() -> dict[str, str]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(models, "unknown"),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
    }


class Meanwhile:
    """From its making on, the share of all cores that went to anything but `servers` and this process."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers
        self._began = time.monotonic()
        self._others = self._used_by_others()

    def others(self) -> float:
        seconds = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return max(0.0, self._used_by_others() - self._others) / seconds

    def _used_by_others(self) -> float:
        mine = os.times()
        ours = sum(server.processor_seconds() for server in self._servers) + mine.user + mine.system
        return _busy_seconds() - ours


def _busy_seconds() -> float:
    fields = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
    # Guests' time is part of the user's already, so the last two columns are left out.
    return sum(int(value) for column, value in enumerate(fields[1:9], start=1) if column not in _IDLE) / _TICK
