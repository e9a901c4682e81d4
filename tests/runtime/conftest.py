"""What tests of the runtime share."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.core.cache import cache


@pytest.fixture
def a_minute_later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to let a minute pass for all that is remembered."""

    def pass_by() -> None:
        later = time.monotonic() + 60
        monkeypatch.setattr(time, "monotonic", lambda: later)
        # Redis has a clock of its own.
        cache.clear()

    return pass_by
