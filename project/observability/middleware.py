"""The outermost middleware: a record for each request, from its first step to its answer."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from crmclient.tally import current
from project.observability.ledger import ledger
from runtime.http.checked_headers import header_value
from runtime.http.problems import Problem
from runtime.http.request_record import OTHER, RequestRecord, record_of

# The names of areas for requests that reach no endpoint: the rest of their paths is not recorded.
_AREAS = (("/admin/", "/admin/"), ("/static/", "/static/"))
_PAGES = frozenset({"/", "/health/live", "/health/ready", "/metrics", "/favicon.ico"})


class RequestRecords:
    """Records a request when it is answered: it may be run twice, to find out whether its body is wanted."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._is_traced = settings.PORTICO["OPENTELEMETRY"]

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, and queue its record. A request whose body turns out to be wanted raises, and
        leaves no record: it is run again.
        """
        record = RequestRecord(request)
        if self._is_traced:
            record.timed_calls = []
            record.parent = request.META.get("HTTP_TRACEPARENT")
        token = current.set(record)
        try:
            response = self.get_response(request)
        finally:
            current.reset(token)
        record.answered(response.status_code)
        record.cache_status = header_value(response, "cache-status") or ""
        if not record.endpoint:
            record.endpoint = _place_without_endpoint(request.path_info)
        ledger.put(record)
        return response


def put_refused(request: HttpRequest, problem: Problem) -> None:
    """Record a request that is refused before it reaches any middleware."""
    record = record_of(request)
    record.endpoint = OTHER
    record.refused(problem)
    record.answered(problem.status_code)
    ledger.put(record)


def _place_without_endpoint(path: str) -> str:
    """Return the name under which a request is recorded that has reached no endpoint: a page, an area, or
    `other`.
    """
    if path in _PAGES:
        return path
    for beginning, area in _AREAS:
        if path.startswith(beginning):
            return area
    return OTHER
