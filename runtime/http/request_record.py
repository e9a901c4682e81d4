"""What is kept of a request for logs and metrics: names of what is configured, codes and numbers.

Nothing that a caller has sent may get in here, but for the request's id (see `request_ids`).
"""

from __future__ import annotations

import time

from django.http import HttpRequest

from crmclient.tally import Tally
from runtime.http.problems import Problem
from runtime.http.request_ids import request_id

OTHER = "other"
"""For a method that HTTP does not know, and a path at which nothing is."""

CACHE_STATUS = "cache-status"
"""The header, in lower case, by which an answer says what the cache did."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestRecord(Tally):
    """What is kept of a request for logs and metrics. It is also the tally of the request's platform calls.

    `endpoint` is an endpoint's key, or the path of a route of our own. `code` and `reason` are of the problem
    that was answered. `cache_status` is the answer's header, where it could come from the cache. `uploaded`
    is the size of a received file in bytes.

    `started` is a second of `time.time()`. `elapsed` is the number of seconds from `entered`, a second of
    `time.perf_counter()`, until the answer could be sent. `parent` is the `traceparent` that was sent, for
    traces alone.
    """

    __slots__ = (
        "cache_status",
        "caller_type",
        "code",
        "elapsed",
        "endpoint",
        "entered",
        "method",
        "parent",
        "reason",
        "request",
        "request_id",
        "started",
        "status",
        "trace_id",
        "uploaded",
    )

    def __init__(self, request: HttpRequest) -> None:
        super().__init__()
        self.request: HttpRequest | None = request
        # The time of day for traces, and a clock that nobody sets for how long the request takes.
        self.started = time.time()
        self.entered = time.perf_counter()
        method = request.method or ""
        self.method = method if method in _METHODS else OTHER
        self.endpoint = self.caller_type = self.code = self.reason = self.request_id = self.cache_status = ""
        self.parent: str | None = None
        self.trace_id = ""
        self.status = 0
        self.elapsed = 0.0
        self.uploaded: int | None = None
        request.portico_record = self  # type: ignore[attr-defined]

    def refused(self, problem: Problem) -> None:
        """Note the problem that the request is answered with."""
        self.code = problem.code
        self.reason = problem.logged.get("reason", "")

    @property
    def cache(self) -> str:
        """How the cache took part: `hit`, `late`, `shared`, `asked`; empty for an answer that is not cached.

        `late` is an answer past its time, because the platform is away. `shared` is the answer to another
        request at the same time. `asked` came from the platform.
        """
        status = self.cache_status
        if not status:
            return ""
        if "platform-away" in status:
            return "late"
        if "collapsed" in status:
            return "shared"
        return "hit" if "; hit" in status else "asked"

    @property
    def is_cached(self) -> bool:
        """Whether the answer came from the cache, or from another request at the same time."""
        return self.cache in ("hit", "late", "shared")

    def answered(self, status: int) -> None:
        """Note the end of the request. The record is complete then, and does not hold the request any
        longer.
        """
        self.elapsed = time.perf_counter() - self.entered
        self.status = status
        if self.request is not None:
            self.request_id = request_id(self.request)
            self.request = None


def record_of(request: HttpRequest) -> RequestRecord:
    """Return the record of `request`.

    Without one, as in a dry run of the studio, return a new record that nobody reads.
    """
    record: RequestRecord | None = getattr(request, "portico_record", None)
    return record or RequestRecord(request)
