"""`GET /metrics`: the figures of all processes that share them, whichever of them answers."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from project.addresses import is_loopback
from project.observability import shared_figures
from project.observability.ledger import ledger
from project.observability.metrics import metrics
from runtime.http.addresses import peer_address


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Answer with the metrics; 403 to a caller who may not read them."""
    if not _may_read(request):
        return HttpResponse(status=403)
    ledger.flush(is_read=True)
    figures = generate_latest(shared_figures.shared() or metrics().registry)
    return HttpResponse(figures, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _may_read(request: HttpRequest) -> bool:
    """Whether a request has the token for the metrics, or comes from this machine without a proxy."""
    token = settings.PORTICO["METRICS_TOKEN"]
    scheme, _, credentials = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if token and scheme.lower() == "bearer" and secrets.compare_digest(credentials.encode(), token.encode()):
        return True
    # Behind a proxy on this machine everybody seems to be here.
    forwarded = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    return not forwarded and is_loopback(peer_address(request))
