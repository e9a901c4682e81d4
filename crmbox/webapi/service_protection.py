"""Service protection limits: what one user may ask of the server in five minutes.

The counts live in this process. Off unless the setting CRM_SERVER_LIMITS gives numbers.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Final

from django.conf import settings
from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from crmbox.webapi.errors import WebApiError
from crmclient.values import Guid

WINDOW: Final = 300
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """For one user: requests and seconds of work in a window, and requests at once."""

    requests: int
    seconds: int
    concurrent: int


def configured_limits() -> Limits | None:
    """Return the configured limits; None without any.

    Raises ValueError unless they are three whole numbers above zero.
    """
    words = settings.PORTICO["CRM_SERVER_LIMITS"]
    if not words:
        return None
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and int(word) for word in words):
        raise ValueError("CRM_SERVER_LIMITS: write three whole numbers above zero, such as 6000,1200,52.")
    return Limits(*(int(word) for word in words))


class Protection:
    """Counts what each user does, and refuses what is too much."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._request_limit = RateLimitItemPerSecond(limits.requests, WINDOW, namespace="requests")
        self._work_limit = RateLimitItemPerSecond(limits.seconds * 1000, WINDOW, namespace="milliseconds")
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._running: Counter[Guid] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def admitted(self, user: Guid) -> Iterator[dict[str, str]]:
        """Count a request of `user` while the block runs. Yield the headers that tell what is left.

        Raises WebApiError 429.
        """
        self._begin(user)
        began = time.monotonic()
        try:
            if not self._limiter.test(self._work_limit, user):
                raise self._refusal(
                    "0x80072321",
                    "Combined execution time of incoming requests exceeded limit of "
                    f"{self._limits.seconds * 1000:,} milliseconds over time window of {WINDOW} seconds. "
                    "Decrease number of concurrent requests or reduce the duration of requests and try "
                    "again later.",
                    self._work_limit,
                    user,
                )
            if not self._limiter.hit(self._request_limit, user):
                raise self._refusal(
                    "0x80072322",
                    f"Number of requests exceeded the limit of {self._limits.requests} over time window of "
                    f"{WINDOW} seconds.",
                    self._request_limit,
                    user,
                )
            yield self._remaining_headers(user)
        finally:
            self._end(user, time.monotonic() - began)

    def _begin(self, user: Guid) -> None:
        """Count a request as running. Raises WebApiError 429 when too many of the user's are."""
        with self._lock:
            if self._running[user] >= self._limits.concurrent:
                raise WebApiError(
                    429,
                    "0x80072326",
                    f"Number of concurrent requests exceeded the limit of {self._limits.concurrent}.",
                    headers={"Retry-After": "1", **self._remaining_headers(user)},
                )
            self._running[user] += 1

    def _end(self, user: Guid, seconds: float) -> None:
        """Count a request as over, after `seconds` of work."""
        self._limiter.hit(self._work_limit, user, cost=max(1, round(seconds * 1000)))
        with self._lock:
            self._running[user] -= 1

    def _remaining_headers(self, user: Guid) -> dict[str, str]:
        """Return the headers that tell what is left of the limits: requests, and seconds of work."""
        requests = self._limiter.get_window_stats(self._request_limit, user).remaining
        work = self._limiter.get_window_stats(self._work_limit, user).remaining
        return {
            "x-ms-ratelimit-burst-remaining-xrm-requests": str(requests),
            "x-ms-ratelimit-time-remaining-xrm-requests": f"{work / 1000:.2f}",
        }

    def _refusal(self, code: str, message: str, item: RateLimitItemPerSecond, user: Guid) -> WebApiError:
        """Return the error for a limit that is used up, with the seconds until its window ends."""
        reset = self._limiter.get_window_stats(item, user).reset_time
        seconds = max(1, ceil(reset - time.time()))
        return WebApiError(
            429, code, message, headers={"Retry-After": str(seconds), **self._remaining_headers(user)}
        )


@contextmanager
def protected(user: Guid) -> Iterator[dict[str, str]]:
    """Admit a request as `Protection.admitted` does. Without limits, every request is admitted."""
    protection = _protection()
    if protection is None:
        yield {}
        return
    with protection.admitted(user) as headers:
        yield headers


@cache
def _protection() -> Protection | None:
    """Return the protection of this process, always the same; None without limits."""
    limits = configured_limits()
    return None if limits is None else Protection(limits)
