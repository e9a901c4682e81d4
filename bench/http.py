"""One request at a time, for tokens and for conformance."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """`headers` by lower-case name; `body` is parsed JSON, or None for anything else."""

    status: int
    headers: Mapping[str, str]
    body: Any


def send(
    port: int, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        text = response.read()
        names = {name.lower(): value for name, value in response.getheaders()}
        is_json = "json" in names.get("content-type", "")
        return Answer(response.status, names, json.loads(text) if is_json else None)
    finally:
        connection.close()
