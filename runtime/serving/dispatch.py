"""The one door of the API: what comes in under its paths leaves with an answer, errors included.

Requests under these paths are answered before Django looks for a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from crmclient.metadata_deadline import waiting_for_metadata_until
from crmclient.watchdog import Watch
from runtime.http.bodies import read_unwanted
from runtime.http.checked_headers import header_value, set_header
from runtime.http.deadlines import deadline_of
from runtime.http.failures import error_response
from runtime.http.limits import say_limits
from runtime.http.problems import Problem, unknown_route
from runtime.http.request_ids import HEADER, request_id
from runtime.http.request_record import CACHE_STATUS, record_of
from runtime.request_context import Exchange
from runtime.serving.paths import API_PATHS
from runtime.serving.routing import Match, builtin_at
from runtime.serving.served import Served, current, current_and_generations
from runtime.serving.usage import usage
from runtime.serving.viewsets import PRIVATE

_PATHS = re.compile(API_PATHS)


def is_of_the_api(path: str) -> bool:
    return _PATHS.match(path) is not None


class ApiMiddleware:
    """Serves the paths of the API: they come from the configuration and not from URL patterns."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_of_the_api(request.path_info):
            return dispatch(request)
        return self.get_response(request)


def dispatch(request: HttpRequest) -> HttpResponseBase:
    """Answer `request`. Nothing is raised: whatever goes wrong becomes a problem."""
    try:
        deadline = deadline_of(request)
    except Problem as late:
        response: HttpResponseBase = error_response(late, request)
    else:
        response = _answer_until(deadline, request)
    if response.status_code >= 400:
        read_unwanted(request)
        # Also for responses that no view produced: a path that does not exist now may exist in a moment.
        PRIVATE.complete(response)
    say_limits(request, response)
    # A streamed response has its own length, and its content cannot be looked at here.
    if isinstance(response, HttpResponse):
        _say_length(request, response)
    set_header(response, HEADER, request_id(request))
    return response


def _answer_until(deadline: float, request: HttpRequest) -> HttpResponseBase:
    """Answer the request; whatever is raised becomes a problem. At `deadline`, a second of
    `time.monotonic()`, the statements of the service's database are ended.
    """
    with Watch(connections[DEFAULT_DB_ALIAS], deadline) as watch, waiting_for_metadata_until(deadline):
        try:
            return _options(request) if request.method == "OPTIONS" else _answer(request, watch)
        except Exception as error:
            return error_response(error, request)


def _say_length(request: HttpRequest, response: HttpResponse) -> None:
    """Set `Content-Length`, and empty the body for HEAD.

    Without a length, servers would send the body in chunks, and would send one for HEAD, too.
    """
    if response.status_code in {204, 304}:
        # Django sets a type for every response, and this one has no body.
        del response.headers["Content-Type"]
        return
    # The answer to HEAD for a file has no content, but has the file's length already.
    if header_value(response, "content-length") is None:
        set_header(response, "Content-Length", str(len(response.content)))
    if request.method == "HEAD":
        response.content = b""


def _answer(request: HttpRequest, watch: Watch) -> HttpResponseBase:
    """Answer from the API's own routes or from an endpoint. Raises Problem 404, 405."""
    path = request.path_info
    builtin = builtin_at(path)
    if builtin is not None:
        record_of(request).endpoint = builtin.path
        return builtin.views[_method(request, builtin.views)](request)
    served, generations = current_and_generations()
    match = served.routes.match(path)
    if match is None:
        raise unknown_route()
    id = match.endpoints[_method(request, match.endpoints)]
    key = served.configuration.endpoints[id].definition.key
    record = record_of(request)
    record.endpoint = key
    response = served.view(id)(request, exchange=_exchange(request, served, match, watch, generations, key))
    throttled = record.code == "platform_throttled"
    record.cache_status = header_value(response, CACHE_STATUS) or ""
    usage.count(key, response.status_code, record.calls, throttled=throttled, cached=record.is_cached)
    return response


def _options(request: HttpRequest) -> HttpResponseBase:
    """Answer OPTIONS with the methods of a path. Preflights of browsers are answered before. Raises Problem
    404.
    """
    path = request.path_info
    builtin = builtin_at(path)
    methods: Mapping[str, object] | None = None if builtin is None else builtin.views
    if methods is None:
        match = current().routes.match(path)
        methods = None if match is None else match.endpoints
    if methods is None:
        raise unknown_route()
    return HttpResponse(status=204, headers={"Allow": _not_allowed(methods).headers["Allow"]})


def _method(request: HttpRequest, methods: Mapping[str, object]) -> str:
    """Return the method that answers `request`. Raises Problem 405 with `Allow`."""
    method = request.method or ""
    if method == "HEAD" and "GET" in methods:
        return "GET"
    if method not in methods:
        raise _not_allowed(methods)
    return method


def _not_allowed(methods: Mapping[str, object]) -> Problem:
    """Return the Problem 405 for a path that has only these methods. Its header `Allow` lists them."""
    allowed = [*sorted(methods), *(["HEAD"] if "GET" in methods else [])]
    return Problem(
        405,
        "method_not_allowed",
        f"Use {' or '.join(allowed)} here.",
        headers={"Allow": ", ".join([*allowed, "OPTIONS"])},
    )


def _exchange(
    request: HttpRequest,
    served: Served,
    match: Match,
    watch: Watch,
    write_generations: str | None,
    spender: str,
) -> Exchange:
    """Return the context of a request to an endpoint. `write_generations` and `spender` are those of
    Exchange.
    """
    return Exchange(
        request=request,
        user_context=served.user_context,
        is_readable=served.routes.is_readable,
        record=match.record or "",
        file=match.file or "",
        related=match.related or "",
        write_generations=write_generations,
        watch=watch,
        recognition=served.recognition,
        spender=spender,
    )
