"""Errors as `application/problem+json`: the one shape that all applications answer with."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

CONTENT_TYPE = "application/problem+json"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="api"'}


def field_error(name: str, code: str, message: str) -> dict[str, str]:
    return {"pointer": f"/{name}", "code": code, "message": message}


def problem(
    status: int, code: str, detail: str, errors: list[dict[str, str]] | None = None
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = errors
    return body
