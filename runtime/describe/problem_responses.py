"""Problems in the document: one schema, and a response for each set of codes that a status may carry."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any

from runtime.http.conditions import digest
from runtime.http.problems import CONTENT_TYPE

_TEXT = {"type": "string"}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "A refusal (RFC 9457). `code` is stable; `errors` names every wrong field at once.",
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "instance": _TEXT,
        "code": _TEXT,
        "requestId": _TEXT,
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {**_TEXT, "description": "Where in the body, as a JSON pointer."},
                    "parameter": {**_TEXT, "description": "Which query-string parameter."},
                    "code": _TEXT,
                    "message": _TEXT,
                },
                "required": ["code", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
}

_SECONDS = {"description": "Seconds to wait.", "schema": {"type": "string"}}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"description": "How to authenticate.", "schema": {"type": "string"}}},
    429: {"Retry-After": _SECONDS},
    503: {"Retry-After": _SECONDS},
}


@cache
def response_name(status: int, codes: tuple[str, ...]) -> str:
    """The component's name: thousands of operations refer to it, so it is short."""
    phrase = HTTPStatus(status).phrase.replace(" ", "").replace("-", "")
    return f"{phrase}.{digest(' '.join(codes).encode())[:10]}"


@cache
def response(status: int, codes: tuple[str, ...]) -> dict[str, Any]:
    """The component: `x-codes` says for programs what the description says for people."""
    known = ", ".join(f"`{code}`" for code in codes)
    found: dict[str, Any] = {
        "description": f"{HTTPStatus(status).phrase}: {known}",
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "x-codes": list(codes),
    }
    if status in _HEADERS:
        found["headers"] = _HEADERS[status]
    return found


def components(problems: Iterable[tuple[int, tuple[str, ...]]]) -> dict[str, dict[str, Any]]:
    """The components that references to `problems` lead to, by kind and name."""
    responses = {response_name(status, codes): response(status, codes) for status, codes in problems}
    return {"responses": responses, "schemas": {"Problem": PROBLEM}} if responses else {}
