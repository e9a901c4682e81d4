"""The Dataverse client of a running CRM server."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.credentials import DEMO_CLIENT
from crmclient.dataverse.http.client_credentials import ClientCredentials
from crmclient.dataverse.options import Options
from crmclient.dataverse.platform import DataversePlatform
from tests.servers import Server


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
