"""Counts how often endpoints are called, and when they were called last."""

from __future__ import annotations

import datetime as dt
import logging
import time
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import F, Value
from django.db.models.functions import Greatest

from crmclient.outages import Outage
from designer.models import EndpointCalls
from runtime.batched_counts import BatchedCounts

logger = logging.getLogger("portico.usage")

# The newest row of each endpoint is kept for ever: it says when the endpoint was called last.
KEPT = dt.timedelta(days=35)

# An endpoint's key, and the hours since 1970. The hours become a date only when they are written, because
# that makes counting cheaper.
_Place: TypeAlias = tuple[str, int]
_HOUR = 3600


@dataclass(slots=True)
class _Counts:
    """The calls of one endpoint in one hour."""

    calls: int = 0
    refused: int = 0
    failed: int = 0
    platform_calls: int = 0
    throttled: int = 0
    cached: int = 0
    # A second of `time.time()`.
    last: float = 0.0

    def add(self, other: _Counts) -> None:
        """Add the counts in `other`, which are of the same endpoint and hour."""
        self.calls += other.calls
        self.refused += other.refused
        self.failed += other.failed
        self.platform_calls += other.platform_calls
        self.throttled += other.throttled
        self.cached += other.cached
        self.last = max(self.last, other.last)


class Usage(BatchedCounts[_Place, _Counts]):
    """Counts calls by endpoint and hour."""

    def __init__(self) -> None:
        outage = Outage(
            logger, "Calls were counted but not written.", "Calls that were counted are written again."
        )
        super().__init__(_Counts, interval=10.0, name="usage", outage=outage)

    def count(
        self,
        endpoint: str,
        status: int,
        platform_calls: int = 0,
        *,
        throttled: bool = False,
        cached: bool = False,
    ) -> None:
        """Count one answer of the endpoint with the key `endpoint`, and its calls to the platform.

        `throttled`: the platform's budget was used up. `cached`: the answer came from the cache.
        """
        now = time.time()
        place = endpoint, int(now // _HOUR)
        with self._lock:
            counts = self._counts[place]
            counts.calls += 1
            counts.refused += 400 <= status < 500
            counts.failed += status >= 500
            counts.platform_calls += platform_calls
            counts.throttled += throttled
            counts.cached += cached
            counts.last = now
        self._write_later()

    def _add(self, place: _Place, counts: _Counts) -> int:
        """Add counts to the row of an endpoint and hour. Return the number of rows changed, 0 or 1."""
        endpoint, hour = place
        return EndpointCalls.objects.filter(endpoint=endpoint, hour=_utc_time(hour * _HOUR)).update(
            calls=F("calls") + counts.calls,
            refused=F("refused") + counts.refused,
            failed=F("failed") + counts.failed,
            platform_calls=F("platform_calls") + counts.platform_calls,
            throttled=F("throttled") + counts.throttled,
            cached=F("cached") + counts.cached,
            # Another process may have written a later answer first.
            last_at=Greatest(F("last_at"), Value(_utc_time(counts.last))),
        )

    def _create(self, place: _Place, counts: _Counts) -> None:
        """Create the row of an endpoint and hour. Raises IntegrityError when another process has."""
        endpoint, hour = place
        EndpointCalls.objects.create(
            endpoint=endpoint,
            hour=_utc_time(hour * _HOUR),
            calls=counts.calls,
            refused=counts.refused,
            failed=counts.failed,
            platform_calls=counts.platform_calls,
            throttled=counts.throttled,
            cached=counts.cached,
            last_at=_utc_time(counts.last),
        )


def _utc_time(seconds: float) -> dt.datetime:
    """Return the UTC time of Unix seconds."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


usage = Usage()
