"""Time that passes at once, for modules that ask `datetime` what time it is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


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
