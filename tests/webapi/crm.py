"""What tests say to a running CRM server: short forms of HTTP requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import requests

from crmbox.webapi.credentials import DEMO_CLIENT
from tests.servers import Server

ANNOTATED = {"Prefer": 'odata.include-annotations="*"'}
REPRESENTED = {"Prefer": "return=representation"}


@dataclass
class Crm:
    """A client of one server. `headers` go with every request."""

    server: Server
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"{self.server.url}/api/data/v9.2/"

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        """`path` is below the base, or absolute."""
        url = path if path.startswith("http") else self.base + path
        headers = {**self.headers, **options.pop("headers", {})}
        return requests.request(method, url, headers=headers, timeout=60, **options)

    def get(self, path: str, **options: Any) -> Any:
        """The JSON of a GET that must succeed; `headers` and query options (`params`) as of requests."""
        answer = self.send("GET", path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def create(self, entity_set: str, values: dict[str, Any], **options: Any) -> str:
        """The new record's id."""
        answer = self.send("POST", entity_set, json=values, **options)
        assert answer.status_code == 204, answer.text
        return answer.headers["OData-EntityId"].rpartition("(")[2].removesuffix(")")

    def error(self, method: str, path: str, **options: Any) -> tuple[int, str, str]:
        """Status, code and message of a request that must fail."""
        answer = self.send(method, path, **options)
        assert answer.status_code >= 400, answer.text
        error = answer.json()["error"]
        return answer.status_code, error["code"], error["message"]

    def acting_as(self, **headers: str) -> Crm:
        return Crm(self.server, {**self.headers, **headers})


def service(server: Server) -> Crm:
    """A client with the token of the service's own account."""
    client, secret = DEMO_CLIENT
    form = {
        "grant_type": "client_credentials",
        "client_id": client,
        "client_secret": secret,
        "scope": f"{server.url}/.default",
    }
    answer = requests.post(f"{server.url}/contoso/oauth2/v2.0/token", data=form, timeout=30)
    answer.raise_for_status()
    return Crm(server, {"Authorization": f"Bearer {answer.json()['access_token']}"})
