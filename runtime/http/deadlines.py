"""When a request has to be answered."""

from __future__ import annotations

import time
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from runtime.http.problems import Problem

RECEIVED: Final = "portico.received"
"""In a request's META: the `time.monotonic()` second since which it has waited for a thread. The server
program sets it."""


def deadline_of(request: HttpRequest) -> float:
    """Return the `time.monotonic()` second in which the request has to be answered: its time begins when it
    was received. Raises Problem 503 if that second is over before anything was begun.
    """
    now = time.monotonic()
    deadline: float = request.META.get(RECEIVED, now) + settings.PORTICO["REQUEST_DEADLINE"]
    if now >= deadline:
        raise Problem(
            503,
            "unavailable",
            "The service was too busy to begin with this request in time. Nothing was done: send it again.",
            headers={"Retry-After": "1"},
        )
    return deadline
