"""The state of everything as one request sees it: its page and its sidebar ask once."""

from __future__ import annotations

from django.http import HttpRequest

from designer.overview import Overview, overview


def seen_by(request: HttpRequest) -> Overview:
    """Of a request that only reads: one that changes things asks again after each change."""
    known: Overview | None = getattr(request, "_overview", None)
    if known is None:
        known = overview()
        if request.method == "GET":
            request._overview = known  # type: ignore[attr-defined]
    return known
