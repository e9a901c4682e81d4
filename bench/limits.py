"""Service protection limits as Dataverse has them, for a platform of the bench: a sliding window."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass

PLACES = "0x80072326"
REQUESTS = "0x80072322"


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that is too much: Dataverse's error code, a sentence, and the seconds of `Retry-After`."""

    code: str
    message: str
    seconds: int


class SlidingLimits:
    """So many requests in any `window` seconds, and so many at once. What is refused does not count."""

    def __init__(self, requests: int, window: float, places: int) -> None:
        self._requests, self._window, self._places = requests, window, places
        self._times: deque[float] = deque()
        self._running = 0

    def begin(self) -> Refused | None:
        """Take a request in, which `end` must follow, or refuse it."""
        now = time.monotonic()
        while self._times and self._times[0] <= now - self._window:
            self._times.popleft()
        if self._running >= self._places:
            message = f"Number of concurrent requests exceeded the limit of {self._places}."
            return Refused(PLACES, message, 1)
        if len(self._times) >= self._requests:
            message = (
                f"Number of requests exceeded the limit of {self._requests} over time window of "
                f"{self._window:g} seconds."
            )
            wait = self._times[0] + self._window - now
            return Refused(REQUESTS, message, max(1, math.ceil(wait)))
        self._times.append(now)
        self._running += 1
        return None

    def end(self) -> None:
        self._running -= 1

    @property
    def left(self) -> int:
        return self._requests - len(self._times)
