"""The overview of the studio for one request, which its page and its sidebar share."""

from __future__ import annotations

from django.http import HttpRequest

from designer.overview import Overview, overview


def overview_for(request: HttpRequest) -> Overview:
    """Return the overview for a request.

    A GET request makes it once. Other requests make it anew each time, because they change what it shows.
    """
    cached: Overview | None = getattr(request, "_overview", None)
    if cached is None:
        cached = overview()
        if request.method == "GET":
            request._overview = cached  # type: ignore[attr-defined]
    return cached
