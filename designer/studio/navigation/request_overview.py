"""The overview of the studio for one request, which its page and its sidebar share."""

from __future__ import annotations

from django.http import HttpRequest

from designer.overview import Overview, overview


def seen_by(request: HttpRequest) -> Overview:
    """Return the overview for a request. Only a GET request keeps it: other requests change what it shows."""
    shown: Overview | None = getattr(request, "_overview", None)
    if shown is None:
        shown = overview()
        if request.method == "GET":
            request._overview = shown  # type: ignore[attr-defined]
    return shown
