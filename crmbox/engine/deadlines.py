"""The caller's deadline: looked at before each step that takes time, and held while the database works."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from django.db import connections

from crmbox.engine.bulkhead import Place
from crmclient.errors import DeadlineExceeded, Unavailable
from crmclient.platform import Call
from crmclient.tally import current_tally
from crmclient.watchdog import Watch


def check_deadline(call: Call) -> None:
    """Raise DeadlineExceeded when the deadline of the call has passed."""
    if call.deadline is not None and time.monotonic() >= call.deadline:
        raise DeadlineExceeded("The call's deadline has passed.")


class Work:
    """One call's work on the database `alias`, which holds a place of a bulkhead and ends at the deadline.

    Raises DeadlineExceeded, and Unavailable where there is no place.
    """

    __slots__ = ("_database", "_deadline", "_place", "_tally", "_watch")

    def __init__(self, alias: str, call: Call, place: Place | None) -> None:
        check_deadline(call)
        self._deadline = call.deadline
        self._place = place
        self._database: Any = connections[alias]
        self._watch: Watch | None = None
        self._tally = current_tally()

    def __enter__(self) -> None:
        self._tally.__enter__()
        try:
            self._begin()
        except BaseException as error:
            self._tally.__exit__(type(error), error, error.__traceback__)
            raise

    def _begin(self) -> None:
        if self._place is not None:
            self._place.__enter__()
        # Counted only now: a call that gets no place has asked nothing of the database.
        self._tally.count()
        if self._deadline is not None:
            self._watch = Watch(self._database, self._deadline).__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the watch over the deadline, and give back the place."""
        if self._watch is not None:
            self._watch.__exit__(kind, error, trace)
        if self._place is not None:
            self._place.__exit__(kind, error, trace)
        self._tally.__exit__(kind, error, trace)
        # A statement that the deadline ended, such as one waiting for a lock, raises Unavailable. The caller
        # gets the reason instead.
        if isinstance(error, Unavailable) and self._is_late():
            raise DeadlineExceeded(f"The call's deadline has passed: {error}") from error

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline
