"""Until when the work under way waits for metadata that the platform has yet to give.

A page of the studio would rather say that metadata is being fetched than wait for it; a command waits for
all of it. Whoever begins the work says so, as it is the same work that reads metadata in many places.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("portico_metadata_deadline", default=None)


@contextmanager
def waiting_for_metadata_until(deadline: float) -> Iterator[None]:
    """In this block, wait for metadata until the `time.monotonic()` second `deadline` at most."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_to_wait() -> float | None:
    """Return how long the work under way may still wait for metadata; None: until they are there."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())
