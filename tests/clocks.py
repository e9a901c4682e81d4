"""Servers whose clock shows another moment than the machine's, by libfaketime."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

# How long something takes is measured with a clock that nobody sets.
_MEASURES_TRULY = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}


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
