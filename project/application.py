"""Django's WSGI application, with three differences: it answers that the process lives without touching the
database, it refuses requests that do not name one host, and the API pays nothing that only pages need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpResponse

from project.observability.middleware import put_refused
from runtime.http.checked_headers import all_headers
from runtime.http.problems import Problem, respond, unknown_route
from runtime.serving.dispatch import is_of_the_api

LIVE = "/health/live"

# One name or address, with or without a port. Two of them are joined by a comma, which is in none.
_HOST = re.compile(r"[\w.~%!$&'()*+;=:\[\]-]+", re.ASCII)


class Application:
    """Answers `LIVE` and the API without the signals that Django sends before and after each request.

    Only Django's own parts listen to them. They look after the thread's connections, which is done here for
    the API, and get caches, logged queries and URL patterns ready for the next request, none of which the API
    uses. Together with setting the prefix of Django's URLs, they took a tenth of the time of a read.
    """

    def __init__(self) -> None:
        self._django = WSGIHandler()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request (PEP 3333): a request that is not sound is refused before Django sees it."""
        if not _names_one_host(environ):
            problem = Problem(400, "bad_host", "Send one Host header, with the name of this service.")
            return _send_problem(problem, environ, start_response)
        path = environ.get("PATH_INFO", "")
        if is_of_the_api(path):
            if not _is_text(path):
                return _send_problem(unknown_route(), environ, start_response)
            return self._answer_api(environ, start_response)
        if path != LIVE:
            return self._django(environ, start_response)
        response: Any = self._django.get_response(WSGIRequest(environ))
        return _send_whole(response, environ, start_response)

    def _answer_api(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request of the API. Before and after it, a database connection of this thread that can no
        longer be used is closed.
        """
        database = connections[DEFAULT_DB_ALIAS]
        database.close_if_unusable_or_obsolete()
        response: Any = self._django.get_response(WSGIRequest(environ))
        start_response(f"{response.status_code} {response.reason_phrase}", all_headers(response))
        if response.streaming:
            # The server closes the response after sending it. Django looks after the connection then.
            return response  # type: ignore[no-any-return]
        database.close_if_unusable_or_obsolete()
        return [response.content]


def _names_one_host(environ: dict[str, Any]) -> bool:
    """Whether the request names exactly one host, so that a proxy and this service understand the same.

    A request of HTTP/1.0 may have no Host.
    """
    # The server program passes on a missing Host as an empty one.
    host = environ.get("HTTP_HOST")
    if not host:
        return environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    return _HOST.fullmatch(host) is not None


def _is_text(path: str) -> bool:
    """Whether a path, in which WSGI has one character for each byte, is UTF-8.

    Django writes bytes that are no UTF-8 as escapes, which would be another path.
    """
    if path.isascii():
        return True
    try:
        path.encode("latin-1").decode()
    except UnicodeError:
        return False
    return True


def _send_problem(problem: Problem, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer with a problem, and record the request, which no middleware sees."""
    request = WSGIRequest(environ)
    put_refused(request, problem)
    return _send_whole(respond(problem, request), environ, start_response)


def _send_whole(response: HttpResponse, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Send a response that is whole. HEAD gets no body."""
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.content if environ["REQUEST_METHOD"] != "HEAD" else b""]
