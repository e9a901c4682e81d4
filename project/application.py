"""Django's WSGI application, but that no database can keep it from saying that the process lives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

LIVE = "/health/live"


class Application:
    """Answers `LIVE` without a request's signals, at which Django looks after the thread's connection."""

    def __init__(self) -> None:
        self._django = WSGIHandler()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != LIVE:
            return self._django(environ, start_response)
        response: Any = self._django.get_response(WSGIRequest(environ))
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [response.content if environ["REQUEST_METHOD"] == "GET" else b""]
