"""The WSGI environment of a request that came in as an ASGI scope."""

from __future__ import annotations

import io
import sys
from functools import lru_cache
from typing import Any, BinaryIO
from urllib.parse import unquote_to_bytes

Environ = dict[str, Any]

_CONSTANT: Environ = {
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "granian",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.input_terminated": True,
}


def environ_of(scope: dict[str, Any], body: BinaryIO | None = None) -> Environ:
    """Return the WSGI environment (PEP 3333) of a request. `body` is empty by default."""
    environ = _CONSTANT.copy()
    environ["REQUEST_METHOD"] = scope["method"]
    environ["PATH_INFO"] = path_of(scope)
    environ["QUERY_STRING"] = scope["query_string"].decode("latin-1")
    version: str = scope["http_version"]
    # Granian calls HTTP/1.0 by "1".
    environ["SERVER_PROTOCOL"] = f"HTTP/{'1.0' if version == '1' else version}"
    environ["SERVER_NAME"], environ["SERVER_PORT"] = scope["server"]
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = scope["client"]
    environ["wsgi.url_scheme"] = scope["scheme"]
    environ["wsgi.input"] = io.BytesIO() if body is None else body
    for name, value in scope["headers"]:
        key = _wsgi_name(name)
        if key is None:
            continue
        text = value.decode("latin-1")
        if key in environ:
            # As RFC 9110 joins lists; a doubled Host becomes a name that no host has.
            text = f"{environ[key]}{';' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text
    return environ


def path_of(scope: dict[str, Any]) -> str:
    """Return the path of a request as WSGI has it, one character for each byte."""
    path: bytes = scope["raw_path"]
    return (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1")


# Callers choose header names: more different ones than the product knows must not stay in memory.
@lru_cache(maxsize=256)
def _wsgi_name(name: bytes) -> str | None:
    """Return the WSGI name of a header; None for one with an underscore, which could pass for a header
    of a proxy.
    """
    if b"_" in name:
        return None
    key = name.decode("latin-1").replace("-", "_").upper()
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
