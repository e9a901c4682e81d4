"""A bare WSGI answer: the ceiling of server and load generator together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_BODY = b'[{"name":"Low","value":1},{"name":"Normal","value":2},{"name":"High","value":3}]'
_HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(_BODY)))]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", _HEADERS)
    return [_BODY]
