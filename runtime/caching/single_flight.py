"""Lets one caller ask the platform, while others with the same question wait for the answer."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeAlias

from runtime.caching.entries import Entry

# One question to the platform that is under way. Its result is None when the answer is only for the request
# that asked.
Flight: TypeAlias = "Future[Entry | None]"


class Flights:
    """The questions that this process is asking the platform at this moment, by key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flying: dict[Hashable, Flight] = {}

    @contextmanager
    def board(
        self, key: Hashable, *, default_error: BaseException | None = None
    ) -> Iterator[tuple[Flight, bool]]:
        """Yield the flight of `key`, and True for the request that leads it: it has to ask, while the others
        wait for the result.

        The leader sets the result or the exception of the flight. If it sets neither, the others get the
        exception `default_error` or, without one, the result None.
        """
        with self._lock:
            flight = self._flying.get(key)
            leads = flight is None
            if flight is None:
                flight = self._flying[key] = Future()
        try:
            yield flight, leads
        finally:
            if leads:
                with self._lock:
                    del self._flying[key]
                if not flight.done():
                    if default_error is None:
                        flight.set_result(None)
                    else:
                        flight.set_exception(default_error)
