"""Rate limits: so many requests a minute for a caller, and fewer for an anonymous address.

Counters live in the process or, with `CACHE_URL`, in Redis, so that they hold across processes. While Redis
is away they are counted here: the service goes on, less exact.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import Storage, storage_from_string

from crmclient.durations import duration
from crmclient.outages import Outage
from runtime.http.addresses import client_address, network
from runtime.http.checked_headers import set_header
from runtime.http.problems import Problem

logger = logging.getLogger("portico.limits")

# In a request's META when it was counted before. The server program runs a request with a large body twice:
# the first run, which ends where the body would be read, tells whether the body is wanted.
COUNTED = "portico.counted"

# In a request's META: where it stands with each limit that has counted it.
_STANDING = "portico.standing"
# The limit's name, requests a minute, how many of them are left, and for how many seconds.
_Counted: TypeAlias = tuple[str, int, int, int | None]

# A limit's name, whom it counts, and its requests a minute.
_Limit: TypeAlias = tuple[str, str, int]
_MINUTE = 60

# Seconds that Redis is waited for, and seconds without it after it has not answered.
_REDIS_SECONDS = 0.5
_REDIS_PAUSE = 5.0
# With so many windows in this process, those that are over are forgotten.
_FIRST_SWEEP = 10_000


class Windows:
    """Minutes in this process: by limit, a count and the `time.time()` second in which the minute ends. Safe
    to share between threads.

    The library's own in-memory storage starts a thread every ten milliseconds to expire its windows; under
    load that costs a create a seventh of its time. These expire when they are next looked at.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._windows: dict[_Limit, tuple[int, float]] = {}
        self._sweep_at = _FIRST_SWEEP

    def hit(self, limit: _Limit) -> tuple[int, float]:
        """Count a request. Return the number of requests in the present minute, and the seconds until it
        ends.
        """
        now = time.time()
        with self._lock:
            count, ends = self._windows.get(limit, (0, 0.0))
            if now >= ends:
                count, ends = 0, now + _MINUTE
                self._sweep(now)
            count += 1
            self._windows[limit] = (count, ends)
        return count, ends - now

    def _sweep(self, now: float) -> None:
        """Forget minutes that are over, once there are many windows. The caller holds the lock."""
        if len(self._windows) < self._sweep_at:
            return
        self._windows = {limit: (count, ends) for limit, (count, ends) in self._windows.items() if now < ends}
        # While most windows are still open, every new one would look at all of them.
        self._sweep_at = max(_FIRST_SWEEP, 2 * len(self._windows))


class Limiter:
    """Counts in the shared store, or in this process when there is none or it does not answer."""

    def __init__(self, url: str) -> None:
        self._local = Windows()
        self._shared = _shared_storage(url) if url else None
        # The `time.monotonic()` second from which the shared store is asked again.
        self._shared_again = 0.0
        self._outage = Outage(
            logger,
            "rate limits are counted per process: the shared store does not answer",
            "rate limits are counted in the shared store again",
        )

    def hit(self, rate: int, name: str, key: str) -> tuple[int, float | None]:
        """Count a request. Return how many more requests `rate` allows in this minute, and the seconds until
        it ends.

        The first is negative when the request is one too many. The seconds are None for an allowed request
        that Redis has counted: asking for them would take another trip.
        """
        if self._shared is not None and time.monotonic() >= self._shared_again:
            try:
                allowance = _hit_shared(self._shared, _per_minute(rate), name, key)
            except StorageError:
                self._shared_again = time.monotonic() + _REDIS_PAUSE
                self._outage.failed()
            else:
                self._outage.worked()
                return allowance
        count, seconds = self._local.hit((name, key, rate))
        return rate - count, seconds


def count_address(request: HttpRequest) -> None:
    """Count an anonymous request. Raises Problem 429."""
    if COUNTED not in request.META:
        _count(settings.PORTICO["ADDRESS_RATE"], "address", network(client_address(request)), request)


def count_login(request: HttpRequest) -> None:
    """Count a login or a refresh by address, apart from other requests. Raises Problem 429."""
    if COUNTED not in request.META:
        _count(settings.PORTICO["LOGIN_RATE"], "login", network(client_address(request)), request)


def count_caller(issuer: str, subject: str, request: HttpRequest, rate: int = 0) -> None:
    """Count the request of a caller, whatever its token or address. Raises Problem 429.

    `rate` is the caller's own limit in requests a minute; 0 for CALLER_RATE.
    """
    if COUNTED not in request.META:
        _count(rate or settings.PORTICO["CALLER_RATE"], "caller", f"{issuer} {subject}", request)


def count_endpoint(key: str, rate: int, caller_rate: int, caller: str, request: HttpRequest) -> None:
    """Count a request of the endpoint `key`, of all callers together, and of `caller`. Raises Problem 429.

    Where that is empty, the address is the caller.
    """
    if COUNTED in request.META:
        return
    # First the caller's own: who is refused for that takes nothing from the others.
    caller_or_network = caller or network(client_address(request))
    _count(caller_rate, "endpoint-caller", f"{key} {caller_or_network}", request)
    _count(rate, "endpoint", key, request)


def say_limits(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set the headers that tell the caller how many requests are left
    (draft-ietf-httpapi-ratelimit-headers-09).
    """
    counted: list[_Counted] | None = request.META.get(_STANDING)
    if counted:
        policies = [f'"{name}";q={rate};w=60' for name, rate, _, _ in counted]
        set_header(response, "RateLimit-Policy", ", ".join(policies))
        standings = [
            f'"{name}";r={requests_left}' if seconds is None else f'"{name}";r={requests_left};t={seconds}'
            for name, _, requests_left, seconds in counted
        ]
        set_header(response, "RateLimit", ", ".join(standings))


def _count(rate: int, name: str, key: str, request: HttpRequest) -> None:
    """Count a request for one limit, and note how many are left. A `rate` of 0 is no limit. Raises Problem
    429.
    """
    if not rate:
        return
    requests_left, wait = _limiter().hit(rate, name, key)
    seconds = None if wait is None else max(1, math.ceil(wait))
    request.META.setdefault(_STANDING, []).append((name, rate, max(0, requests_left), seconds))
    if requests_left < 0:
        raise Problem(
            429,
            "too_many_requests",
            f"At most {rate} requests a minute. Try again in {duration(seconds or 1)}.",
            headers={"Retry-After": str(seconds)},
        )


def _hit_shared(storage: Storage, item: RateLimitItemPerMinute, *key_parts: str) -> tuple[int, float | None]:
    """Count a request in the shared store. Return what `Limiter.hit` returns. Raises StorageError."""
    key = item.key_for(*key_parts)
    requests_left = item.amount - storage.incr(key, item.get_expiry())
    return requests_left, None if requests_left >= 0 else storage.get_expiry(key) - time.time()


def _shared_storage(url: str) -> Storage:
    """Return the shared store of limits."""
    # The library reads the version of a client that another thread may be importing still, and refuses it.
    import_module("redis")
    options: dict[str, Any] = {
        "socket_timeout": _REDIS_SECONDS,
        "socket_connect_timeout": _REDIS_SECONDS,
        "wrap_exceptions": True,
    }
    return cast(Storage, storage_from_string(url, **options))


@cache
def _limiter() -> Limiter:
    """Return the limiter of this process."""
    return Limiter(settings.PORTICO["CACHE_URL"])


@cache
def _per_minute(rate: int) -> RateLimitItemPerMinute:
    """Return the library's limit of `rate` requests a minute."""
    return RateLimitItemPerMinute(rate)
