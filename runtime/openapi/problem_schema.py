"""The JSON Schema of a problem."""

from __future__ import annotations

from typing import Any

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
