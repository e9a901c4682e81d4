"""Conditional requests (RFC 9110): entity tags, against `If-None-Match` and `If-Match`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from runtime.http.checked_headers import header_value
from runtime.http.problems import Problem

_TAG = re.compile(r'(?:W/)?("[^"]*")')
_TAGS = re.compile(r'\s*(?:W/)?"[^"]*"(?:\s*,\s*(?:W/)?"[^"]*")*\s*')
_STRONG = re.compile(r'(W/)?"([^"]*)"')


def digest(content: bytes) -> str:
    """Return the digest that stands for the content in an entity tag: 20 hexadecimal digits, which no two
    contents are likely to share.
    """
    return hashlib.sha256(content).hexdigest()[:20]


def strong_tags(if_match: str) -> Sequence[str]:
    """Return the strong tags of an `If-Match`, without quotes. Raises Problem 400 unless it is a list of
    tags.
    """
    if _TAGS.fullmatch(if_match) is None:
        raise Problem(400, "invalid_if_match", 'If-Match takes an ETag in its quotes: "123". Or *, for any.')
    return [tag for weak, tag in _STRONG.findall(if_match) if not weak]


def is_not_modified(request: HttpRequest, tag: str) -> bool:
    """Whether the caller holds the representation that `tag` (quoted, strong) stands for."""
    if_none_match = request.META.get("HTTP_IF_NONE_MATCH")
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def unless_held(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return `response`; but 304 when the caller already holds the representation that its ETag names."""
    tag = header_value(response, "etag")
    if tag is None or response.status_code != 200 or not is_not_modified(request, tag):
        return response
    return HttpResponse(status=304, headers={"ETag": tag})
