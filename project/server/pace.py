"""The least rate and the deadline for sending or receiving a body."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast


class TooSlow(Exception):
    """The client sent or took fewer bytes than the least rate asks for, or went past the deadline."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The least pace of a transfer.

    `rate` is in bytes a second, averaged over `patience` seconds; `deadline` is in seconds for a whole body.
    """

    patience: float
    rate: int
    deadline: float

    @property
    def least(self) -> float:
        """The number of bytes that must move in `patience` seconds, at least one."""
        return max(1.0, self.patience * self.rate)


class Pace:
    """A `with` block of the current task in which a transfer must keep to `limits`. Raises TooSlow.

    One timer looks once a period, of `limits.patience` seconds: a timeout around each piece would cost more
    than the piece.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._loop = asyncio.get_running_loop()
        # Bytes that have moved in this period.
        self._moved = 0
        # Whether the pace of this period counts: not where the client has waited for us, in `our_turn`.
        self._is_judged = True
        self._too_slow = False

    def moved(self, size: int) -> None:
        """Note that `size` bytes have moved."""
        self._moved += size

    @contextmanager
    def our_turn(self) -> Iterator[None]:
        """Do not judge the client's pace during this block, in which the client waits for us."""
        self._is_judged = self._waits_for_client = False
        try:
            yield
        finally:
            self._waits_for_client = True

    def __enter__(self) -> Self:
        """Begin the first period. The deadline counts from now."""
        # Whether the client has to move now, as everywhere but in `our_turn`.
        self._waits_for_client = True
        self._ends = self._loop.time() + self._limits.deadline
        self._begin_period()
        return self

    def _begin_period(self) -> None:
        """Begin to count bytes anew, and look at them after `patience` seconds, or at the deadline if that is
        earlier.
        """
        self._moved = 0
        self._is_judged = self._waits_for_client
        seconds_left = max(0.0, self._ends - self._loop.time())
        self._timer = self._loop.call_later(min(self._limits.patience, seconds_left), self._look)

    def _look(self) -> None:
        """End the task after a period in which the client was too slow. Else begin another period."""
        late = self._loop.time() >= self._ends
        if late or (self._is_judged and self._moved < self._limits.least):
            self._too_slow = True
            self._task.cancel()
        else:
            self._begin_period()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop looking. Raises TooSlow in place of the cancellation by which `_look` has ended the task."""
        self._timer.cancel()
        if self._too_slow and isinstance(error, asyncio.CancelledError):
            self._task.uncancel()
            raise TooSlow from None
