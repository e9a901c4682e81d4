"""What happens on the way to a remote platform, counted for Prometheus, each process on its own."""

from __future__ import annotations

import logging
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest

from project.addresses import is_loopback

logger = logging.getLogger("portico.platform")

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30)

_ATTEMPTS = Histogram(
    "portico_platform_attempt_seconds",
    "Requests to the platform, by method and outcome: a status, unreachable, lost or timeout.",
    ("method", "outcome"),
    buckets=_BUCKETS,
)
_RETRIES = Counter(
    "portico_platform_retries_total",
    "Requests to the platform that were sent again, by the outcome of the attempt before.",
    ("reason",),
)
_WAITS = Histogram(
    "portico_platform_wait_seconds",
    "Requests that waited because too many others were under way, and whether their turn came.",
    ("admitted",),
    buckets=_BUCKETS,
)
_OPEN = Gauge("portico_platform_circuit_open", "1 while the platform is left alone after repeated failures.")
_THROTTLED = Counter(
    "portico_platform_throttled_total",
    "Times that the platform asked for a pause in which nothing is sent.",
)


class PlatformMetrics:
    """`crmclient.dataverse.http.observer.Observer`: the metrics are the process's, however many there are."""

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        _ATTEMPTS.labels(method, outcome).observe(seconds)

    def retried(self, reason: str) -> None:
        _RETRIES.labels(reason).inc()

    def waited(self, seconds: float, *, admitted: bool) -> None:
        _WAITS.labels("yes" if admitted else "no").observe(seconds)

    def circuit(self, *, open: bool) -> None:
        _OPEN.set(1 if open else 0)

    def throttled(self, seconds: float, *, asked: float) -> None:
        _THROTTLED.inc()
        if asked > seconds:
            logger.warning("Dataverse asks for a pause of %d s; it gets %d s, the most", asked, seconds)
        else:
            logger.warning("Dataverse asks for a pause: nothing is sent for %d s", seconds)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of the process that answers; 403 for whom they are not meant."""
    if not _may_read(request):
        return HttpResponse(status=403)
    return HttpResponse(
        generate_latest(), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )


def _may_read(request: HttpRequest) -> bool:
    token = settings.PORTICO["METRICS_TOKEN"]
    scheme, _, given = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if token and scheme.lower() == "bearer" and secrets.compare_digest(given.encode(), token.encode()):
        return True
    # Behind a proxy on this machine everybody seems to be here.
    forwarded = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    return not forwarded and is_loopback(request.META.get("REMOTE_ADDR", ""))
