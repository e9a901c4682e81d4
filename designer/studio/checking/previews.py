"""The preview on an endpoint's page: the API as callers would find it, of the form as it stands."""

from __future__ import annotations

from django.http import HttpRequest
from django.template.loader import render_to_string

from designer.configuration import Endpoint
from designer.ports import Preview, get_runtime


def service_address(request: HttpRequest) -> str:
    """Return the address of the service without a path, as the request names it."""
    return f"{request.scheme}://{request.get_host()}"


def preview_of(endpoint: Endpoint | None, base: str) -> Preview | None:
    """Return the preview of an endpoint; None without one. `base` is the service's URL."""
    return None if endpoint is None else get_runtime().preview(endpoint, base)


def preview_html(preview: Preview | None) -> str:
    """Return the preview as HTML; empty without one."""
    if preview is None:
        return ""
    context = {
        "preview": preview,
        # The body is shown as a whole, not field by field.
        "parameters": [call_field for call_field in preview.fields if call_field.place != "body"],
    }
    return render_to_string("designer/endpoint/preview.html", context)
