"""The metrics of the service. `docs/operations.md` lists them, and a test compares the two.

Labels are keys of endpoints, caller types, codes and words of our own: never anything that a caller has sent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Counts
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from project.observability import shared_figures
from runtime.http.request_record import RequestRecord

# Upper bounds of the buckets of histograms, in seconds.
_REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_PLATFORM_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30)

# Codes for which the rules in deploy/monitoring raise an alert at the first occurrence, and those of the
# platform.
_CODES_FROM_ZERO = (
    "internal_error",
    "endpoint_misconfigured",
    "query_refused",
    "unavailable",
    "timeout",
    "insufficient_storage",
    "platform_unavailable",
    "platform_timeout",
    "platform_throttled",
    "platform_error",
)


class Metrics:
    """The metrics of this process. Help texts are short, because each figure of an endpoint repeats its help
    text in the shared files.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, help: str, *labels: str) -> Counter:
            return Counter(f"portico_{name}", help, labels, registry=registry)

        # `mode`: of living processes the sum counts (livesum), or the greatest value (livemax).
        def gauge(name: str, help: str, mode: str = "livesum") -> Gauge:
            return Gauge(f"portico_{name}", help, registry=registry, multiprocess_mode=mode)  # type: ignore[arg-type]

        def histogram(name: str, help: str, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"portico_{name}", help, labels, buckets=buckets, registry=registry)

        self.registry = registry
        self.requests = counter("requests_total", "Requests answered.", "endpoint", "method", "status")
        self.seconds = histogram("request_seconds", "Until the answer.", ("endpoint",), _REQUEST_BUCKETS)
        self.calls = counter("request_platform_calls_total", "Platform calls of requests.", "endpoint")
        self.platform_seconds = counter(
            "request_platform_seconds_total", "Seconds that requests waited for the platform.", "endpoint"
        )
        self.refusals = counter("refusals_total", "Problems answered.", "code", "reason")
        self.cached = counter("cached_answers_total", "Answers of cached endpoints.", "endpoint", "outcome")
        # An alert needs an increase, and Prometheus sees none where the first value is not zero.
        for code in _CODES_FROM_ZERO:
            self.refusals.labels(code, "").inc(0)
        self.uploads = counter("uploads_total", "Files received.", "endpoint")
        self.uploaded = counter("upload_bytes_total", "Bytes of files received.", "endpoint")

        self.attempts = histogram(
            "platform_attempt_seconds",
            "Requests to the platform, by method and outcome: a status, unreachable, lost or timeout.",
            ("method", "outcome"),
            _PLATFORM_BUCKETS,
        )
        self.retries = counter(
            "platform_retries_total",
            "Requests to the platform that were sent again, by the outcome of the attempt before.",
            "reason",
        )
        self.waits = histogram(
            "platform_wait_seconds",
            "Requests that waited for a place, for budget or for a pause to end, and whether they were sent.",
            ("admitted",),
            _PLATFORM_BUCKETS,
        )
        self.circuit_open = gauge(
            "platform_circuit_open",
            "1 while a process leaves the platform alone after repeated failures.",
            "livemax",
        )
        self.throttled = counter(
            "platform_throttled_total", "Times that the platform asked for a pause in which nothing is sent."
        )
        self.spent = counter(
            "platform_budget_spent_total", "Requests that the platform's budget paid for, by share.", "share"
        )
        self.budget_refused = counter(
            "platform_budget_refused_total",
            "Requests not sent for want of budget or in a pause, by share.",
            "share",
        )

        self.revision = gauge(
            "configuration_revision", "The newest revision that a process serves.", "livemax"
        )
        self.workers = gauge("workers", "Server processes that live.")
        self.threads = gauge("threads", "Threads that work on requests.")
        self.threads_busy = gauge("threads_busy", "Threads that work on a request now.")
        self.waiting = gauge("requests_waiting", "Requests that wait for a thread.")
        self.connections = gauge("database_connections", "Open connections to the service's database.")
        self.resident = gauge("resident_memory_bytes", "Memory of the server processes.")
        self.restarts = counter("worker_restarts_total", "Server processes that ended and were replaced.")
        self.dropped = counter("records_dropped_total", "Requests that could be neither counted nor logged.")

    def count(self, records: Iterable[RequestRecord]) -> None:
        """Add many records at once.

        An addition to a figure that processes share costs as much as ten to a figure of this process.
        """
        # By endpoint, method and status; by code and reason; by endpoint and outcome: how many.
        requests: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        refusals: defaultdict[tuple[str, str], int] = defaultdict(int)
        cached: defaultdict[tuple[str, str], int] = defaultdict(int)
        # By endpoint: how many calls of the platform, and their seconds; and the seconds of each request.
        platform: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        elapsed: defaultdict[str, list[float]] = defaultdict(list)
        for record in records:
            requests[record.endpoint, record.method, str(record.status)] += 1
            elapsed[record.endpoint].append(record.elapsed)
            if record.calls or record.seconds:
                sums = platform[record.endpoint]
                sums[0] += record.calls
                sums[1] += record.seconds
            if record.cache_status:
                cached[record.endpoint, record.cache] += 1
            if record.code:
                refusals[record.code, record.reason] += 1
            if record.uploaded is not None:
                self.uploads.labels(record.endpoint).inc()
                self.uploaded.labels(record.endpoint).inc(record.uploaded)
        for labels, number in requests.items():
            self.requests.labels(*labels).inc(number)
        for endpoint, values in elapsed.items():
            _observe(self.seconds.labels(endpoint), values)
        for outcome, number in cached.items():
            self.cached.labels(*outcome).inc(number)
        for refusal, number in refusals.items():
            self.refusals.labels(*refusal).inc(number)
        for endpoint, (calls, seconds) in platform.items():
            self.calls.labels(endpoint).inc(calls)
            self.platform_seconds.labels(endpoint).inc(seconds)


def _observe(histogram: Any, values: list[float]) -> None:
    """Observe many values at once, for which a histogram has no method. It has the `_REQUEST_BUCKETS`."""
    histogram._sum.inc(sum(values))
    # A bucket counts the values above the bound before it and up to its own; the last one has no bound.
    for bucket, number in Counts(bisect_left(_REQUEST_BUCKETS, value) for value in values).items():
        histogram._buckets[bucket].inc(number)


@cache
def metrics() -> Metrics:
    """Return the metrics of this process.

    They are made when they are first needed, because only then it is known whether they are shared.
    """
    shared_figures.use()
    return Metrics(CollectorRegistry())
