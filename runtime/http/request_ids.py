"""A request's id: it stands in the answer's header, in problems and in the log."""

from __future__ import annotations

import re
import secrets

from django.http import HttpRequest

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id(request: HttpRequest) -> str:
    """The id of `request`: the one its `X-Request-Id` gave, when that is plain text, else a new one."""
    known: str | None = getattr(request, "portico_id", None)
    if known is None:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        known = given if _SANE.fullmatch(given) else secrets.token_hex(8)
        request.portico_id = known  # type: ignore[attr-defined]
    return known
