"""Entries of the cache as responses, with the `Cache-Status` (RFC 9211) that says what the cache did."""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from runtime.caching.entries import Entry
from runtime.caching.shared_store import LARGEST
from runtime.http.conditions import is_not_modified, unless_held

STATUS = "Cache-Status"
_CACHE_NAME = "Portico"


def entry_of(response: HttpResponseBase, made: float) -> Entry | None:
    """Return the entry to store for a response made at `made`; None for a failure, and for one that is
    too large.
    """
    if response.status_code not in (200, 204):
        return None
    if isinstance(response, StreamingHttpResponse):
        if int(response.headers.get("Content-Length", LARGEST + 1)) > LARGEST:
            return None
        # Read to its end it needs no close, which would tell Django that the request is over.
        content = b"".join(response.streaming_content)  # type: ignore[arg-type]  # it is no asynchronous one
        response = HttpResponse(content, status=response.status_code, headers=dict(response.items()))
    return Entry.of(response, made) if isinstance(response, HttpResponse) else None


def may_be_kept(cache_status: str) -> bool:
    """Return whether a `Cache-Status` says that the answer is fresh, so that caches below may keep it."""
    return cache_status.endswith(("; stored", "; collapsed")) or (
        "; hit" in cache_status and "detail" not in cache_status
    )


def fetched_response(entry: Entry, request: HttpRequest, cache_status: str, **headers: str) -> HttpResponse:
    """Return the response with an answer that was just made; 304 when the caller has it already.

    `headers` are further headers, whose names have `_` for `-`.
    """
    headers["Cache_Status"] = f"{_CACHE_NAME}; {cache_status}"
    tag = entry.tag
    if tag is None or not is_not_modified(request, tag):
        return entry.response(**headers)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status=304, headers={"ETag": tag, **named})


def uncached_response(
    response: HttpResponseBase, request: HttpRequest, cache_status: str
) -> HttpResponseBase:
    """Return a response that is not cached; 304 when the caller has it already."""
    response = unless_held(request, response)
    response.headers[STATUS] = f"{_CACHE_NAME}; {cache_status}"
    return response


def cached_response(entry: Entry, request: HttpRequest, cache_status: str) -> HttpResponse:
    """Return the response with an answer from the cache, and with its `Age` in seconds."""
    return fetched_response(entry, request, cache_status, Age=str(max(0, int(time.time() - entry.made))))
