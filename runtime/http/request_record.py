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
    """Also the tally of the request's platform calls.

    `endpoint` is an endpoint's key, or the path of a route of our own. `code` and `reason` are of the problem
    that was answered. `started` is a second of `time.time()`, `elapsed` the seconds until the answer could be
    sent. `cache_status` is the answer's header, where it could come from the cache. `uploaded` is a received
    file's size in bytes. `parent` is the `traceparent` that was sent, for traces alone.
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
        self.code = problem.code
        self.reason = problem.logged.get("reason", "")

    @property
    def cache(self) -> str:
        """`hit`, `late` (kept for longer, as the platform is away), `shared` (another request asked for both)
        or `asked`; empty for what is not kept.
        """
        said = self.cache_status
        if not said:
            return ""
        if "platform-away" in said:
            return "late"
        if "collapsed" in said:
            return "shared"
        return "hit" if "; hit" in said else "asked"

    @property
    def is_cached(self) -> bool:
        """Whether the answer was one that had been kept, or asked for by another request."""
        return self.cache in ("hit", "late", "shared")

    def answered(self, status: int) -> None:
        """The end: what was kept is complete, and the request may be forgotten."""
        self.elapsed = time.perf_counter() - self.entered
        self.status = status
        if self.request is not None:
            self.request_id = request_id(self.request)
            self.request = None


def record_of(request: HttpRequest) -> RequestRecord:
    """That of `request`; one that nobody reads where none was begun, as in a dry run of the studio."""
    record: RequestRecord | None = getattr(request, "portico_record", None)
    return record or RequestRecord(request)
