"""The Dataverse client of a running CRM server."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.credentials import DEMO_CLIENT
from crmclient.dataverse import DataversePlatform, Options
from crmclient.dataverse.http.client_credentials import ClientCredentials
from tests.servers import Server


def credentials(url: str) -> ClientCredentials:
    client, secret = DEMO_CLIENT
    return ClientCredentials(f"{url}/contoso/oauth2/v2.0/token", client, secret, f"{url}/.default")


def platform_at(server: Server, **options: Any) -> DataversePlatform:
    """`options` as of Options; a `store` and an `observer` as of DataversePlatform."""
    parts = {name: options.pop(name) for name in ("store", "observer") if name in options}
    return DataversePlatform(Options(server.url, **options), credentials(server.url), **parts)
