"""API clients that carry a person's token and speak JSON."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from tests.documented_problems import judge_problem

PASSWORD = "demo"


class Caller:
    """`caller.post(path, body)` and its kin give Django's test response; `body` is a value, or raw bytes.

    An endpoint that answers a problem which OpenAPI does not name for it fails the test.
    """

    def __init__(self, token: str | None = None, address: str = "127.0.0.1") -> None:
        self.token = token
        headers = {"Authorization": f"Bearer {token}"} if token else None
        self.client = Client(headers=headers, REMOTE_ADDR=address)

    def get(self, path: str, **headers: str) -> Any:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: object = None, **headers: str) -> Any:
        return self.request("POST", path, body, **headers)

    def patch(self, path: str, body: object = None, **headers: str) -> Any:
        return self.request("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.request("DELETE", path, **headers)

    def request(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Header names as keywords, `if_match="…"`; with `content_type` the body is sent as that."""
        content_type = headers.pop("content_type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.client.generic(method, path, data, content_type, headers=names)
        judge_problem(answer)
        return answer


def account(username: str, password: str = PASSWORD) -> Caller:
    """A caller with a fresh token of the account."""
    answer = Caller().post("/api/token", {"username": username, "password": password})
    assert answer.status_code == 200, answer.content
    return Caller(answer.json()["access"])
