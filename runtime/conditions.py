"""Conditional requests (RFC 9110): entity tags against `If-None-Match`."""

from __future__ import annotations

import re

from django.http import HttpRequest

_TAG = re.compile(r'(?:W/)?("[^"]*")')


def not_modified(request: HttpRequest, tag: str) -> bool:
    """Whether the caller holds the representation that `tag` (quoted, strong) stands for."""
    given = request.META.get("HTTP_IF_NONE_MATCH")
    if given is None:
        return False
    return given.strip() == "*" or tag in _TAG.findall(given)
