"""What one piece of work, such as a request of the service, asks of the platform.

Every platform counts its calls here. Whoever begins the work sets `current`, and reads the sums at its end.
"""

from __future__ import annotations

import time
import uuid
from contextvars import ContextVar
from types import TracebackType
from typing import NamedTuple


class TimedCall(NamedTuple):
    """One call: `began` is a `time.monotonic()` second; `failed` is the type of an error, or empty."""

    began: float
    seconds: float
    failed: str


class Tally:
    """Used by one thread at a time. `with tally:` measures one call of the platform; what such a call does by
    further calls is its own time.

    `timed_calls` has the calls one by one, where somebody has put a list there.
    """

    __slots__ = ("_began", "_correlation", "_depth", "calls", "seconds", "timed_calls")

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0
        self.timed_calls: list[TimedCall] | None = None
        # Made when it is first read.
        self._correlation: str | None = None
        # How many `with` blocks of this tally are open. Only the outermost one is measured, which began at
        # this second of `time.monotonic()`.
        self._depth = 0
        self._began = 0.0

    @property
    def correlation(self) -> str:
        """A GUID that all calls of the work share. The platform may log it."""
        if self._correlation is None:
            self._correlation = str(uuid.uuid4())
        return self._correlation

    @property
    def sent_correlation(self) -> str | None:
        """The GUID, if `correlation` was read for any call; else None."""
        return self._correlation

    def branch(self) -> Tally:
        """Return a tally for a part of the work that another thread does, under the same correlation."""
        part = Tally()
        part._correlation = self.correlation
        return part

    def count(self) -> None:
        """Count the call that is being measured, unless it is part of another call."""
        # Inside a call that another call makes, the depth is larger than 1.
        if self._depth == 1:
            self.calls += 1

    def __enter__(self) -> Tally:
        """Begin to measure a call, unless another call is being measured, which this one is a part of."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Add the time of the call that has ended, unless it was a part of another call."""
        self._depth -= 1
        if not self._depth:
            seconds = time.monotonic() - self._began
            self.seconds += seconds
            if self.timed_calls is not None:
                self.timed_calls.append(
                    TimedCall(self._began, seconds, "" if kind is None else kind.__name__)
                )


current: ContextVar[Tally | None] = ContextVar("portico_tally", default=None)


def current_tally() -> Tally:
    """Return the tally of the work under way; outside of any work, one that nobody reads."""
    return current.get() or Tally()
