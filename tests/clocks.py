"""Clocks that show another time: one set by hand, that of a module that asks `datetime`, that of a server."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

# How long something takes is measured with a clock that nobody sets.
_MEASURES_TRULY = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}


class SetClock:
    """A clock that shows `now`, in seconds, until somebody sets it. Called as `time.monotonic` is."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def ahead(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> Callable[[float], None]:
    """Lets that many seconds pass for `module`, which has imported datetime as `dt`."""

    class Clock(dt.datetime):
        ahead = dt.timedelta()

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return dt.datetime.now(tz) + cls.ahead

    class Module:
        datetime, timedelta, UTC = Clock, dt.timedelta, dt.UTC

    monkeypatch.setattr(module, "dt", Module)

    def pass_by(seconds: float) -> None:
        Clock.ahead += dt.timedelta(seconds=seconds)

    return pass_by


def clock_of(file: Path) -> dict[str, str]:
    """The environment of a server whose clock follows what `file` says, such as `+90m`, within a second."""
    return {
        **_library(),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
    }


def clock_begun_at(moment: dt.datetime) -> dict[str, str]:
    """The environment of a server whose clock shows `moment` when it starts, and goes on from there."""
    return {**_library(), "FAKETIME": f"@{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S}", "TZ": "UTC"}


def _library() -> dict[str, str]:
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed")
    return {"LD_PRELOAD": str(library), **_MEASURES_TRULY}
