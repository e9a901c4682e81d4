"""The Dataverse client of a running CRM server, and callers of a service in front of it."""

from __future__ import annotations

import html
from typing import Any

import requests
from django.test import Client
from django.urls import reverse

from crmbox.webapi.credentials import DEMO_CLIENT
from crmclient.dataverse.http.client_credentials import ClientCredentials
from crmclient.dataverse.options import Options
from crmclient.dataverse.platform import DataversePlatform
from project.refresh_runs import refresh_runs
from tests.servers import Server, until_not


def credentials(url: str) -> ClientCredentials:
    client, secret = DEMO_CLIENT
    return ClientCredentials(f"{url}/contoso/oauth2/v2.0/token", client, secret, f"{url}/.default")


def settings_for(server: Server) -> dict[str, str]:
    """What tells the service to use the CRM server as its platform."""
    client, secret = DEMO_CLIENT
    return {
        "CRM_URL": server.url,
        "CRM_TOKEN_URL": f"{server.url}/contoso/oauth2/v2.0/token",
        "CRM_CLIENT_ID": client,
        "CRM_CLIENT_SECRET": secret,
    }


def platform_at(server: Server, **options: Any) -> DataversePlatform:
    """`options` as of Options; `store`, `observer` and `budget` as of DataversePlatform."""
    parts = {name: options.pop(name) for name in ("store", "observer", "budget") if name in options}
    return DataversePlatform(Options(server.url, **options), credentials(server.url), **parts)


def refreshed(studio: Client) -> str:
    """What the studio says of the platform after a refresh that was asked for there, and that this process
    runs.
    """
    answer = studio.post(reverse("studio:refresh_metadata"), {"fragment": "1"})
    assert answer.status_code == 200
    assert "data-refreshing" in answer.content.decode()
    assert refresh_runs.run_next(0)
    state = studio.get(reverse("studio:platform"))
    assert state.status_code == 200
    return " ".join(html.unescape(state.content.decode()).split())


class Person:
    """Calls a server with an account's token."""

    def __init__(self, server: Server, account: str) -> None:
        self._server = server
        self._headers = {"Authorization": f"Bearer {server.token(account)}"}

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {**self._headers, **options.pop("headers", {})}
        return self._server.request(method, path, headers=headers, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.request("GET", path, **options)

    def settled(self, path: str) -> requests.Response:
        """The answer to a GET, once what is made beside the requests is there."""
        return until_not(503, lambda: self.get(path), pause=0.5)
