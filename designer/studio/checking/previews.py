"""The preview on an endpoint's page: the API as callers would find it, of the form as it stands."""

from __future__ import annotations

from django.template.loader import render_to_string

from designer.configuration import Endpoint
from designer.ports import get_runtime


def preview_html(endpoint: Endpoint | None, base: str) -> str:
    """`base` is the service's URL. Empty while nothing can be said."""
    if endpoint is None:
        return ""
    shown = get_runtime().preview(endpoint, base)
    context = {"preview": shown, "parameters": [asked for asked in shown.asked if asked.place != "body"]}
    return render_to_string("designer/endpoint/preview.html", context)
