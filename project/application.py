"""Django's WSGI application, but that no database can keep it from saying that the process lives, and that
every request says once to whom it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpResponse

from project.observability.middleware import put_refused
from runtime.http.problems import Problem, respond

LIVE = "/health/live"

# One name or address, with or without a port. Two of them are joined by a comma, which is in none.
_HOST = re.compile(r"[\w.~%!$&'()*+;=:\[\]-]+", re.ASCII)


class Application:
    """Answers `LIVE` without a request's signals, at which Django looks after the thread's connection."""

    def __init__(self) -> None:
        self._django = WSGIHandler()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if not _names_one_host(environ):
            problem = Problem(400, "bad_host", "Send one Host header, with the name of this service.")
            request = WSGIRequest(environ)
            put_refused(request, problem)
            return _whole(respond(problem, request), environ, start_response)
        if environ.get("PATH_INFO") != LIVE:
            return self._django(environ, start_response)
        response: Any = self._django.get_response(WSGIRequest(environ))
        return _whole(response, environ, start_response)


def _names_one_host(environ: dict[str, Any]) -> bool:
    """What a proxy routes by and what is read here must be the same. HTTP/1.0 knew no Host."""
    # The server program makes an empty one of none.
    host = environ.get("HTTP_HOST")
    if not host:
        return environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    return _HOST.fullmatch(host) is not None


def _whole(response: HttpResponse, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.content if environ["REQUEST_METHOD"] != "HEAD" else b""]
