"""Swagger UI at `/api/docs`: a page and a script of ours around it, from this host alone."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from runtime.serving.served import current

# More operations than this are shown a module at a time, and of a module no more at once.
MOST_SHOWN = 200


def docs(request: HttpRequest) -> HttpResponseBase:
    """The page is the same for everyone; its script asks for what the reader may see."""
    expansion = "list" if len(current().routes.ids()) <= MOST_SHOWN else "none"
    return render(request, "runtime/docs.html", {"most_shown": MOST_SHOWN, "expansion": expansion})
