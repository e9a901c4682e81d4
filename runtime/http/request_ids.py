"""A request's id: it stands in the answer's header, in problems and in the log."""

from __future__ import annotations

import re
import secrets

from django.http import HttpRequest

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id(request: HttpRequest) -> str:
    """Return the id of `request`: its `X-Request-Id` if that is plain text, else a new one."""
    identifier: str | None = getattr(request, "portico_id", None)
    if identifier is None:
        sent_id = request.META.get("HTTP_X_REQUEST_ID", "")
        identifier = sent_id if _SANE.fullmatch(sent_id) else secrets.token_hex(8)
        request.portico_id = identifier  # type: ignore[attr-defined]
    return identifier
