"""The clients that the CRM server gives tokens to."""

from __future__ import annotations

import secrets
from typing import Final

from django.conf import settings

from crmbox.engine.identities import SERVICE_USER
from crmclient.values import Guid

DEMO_CLIENT: Final = ("portico-demo", "demo")
"""What is good on a developer's machine, unless settings say otherwise."""


def credentials() -> tuple[str, str] | None:
    """Id and secret of the service's client; None where none are set, so that it gets no token."""
    client, secret = settings.PORTICO["CRM_SERVER_CLIENT_ID"], settings.PORTICO["CRM_SERVER_CLIENT_SECRET"]
    if client and secret:
        return client, secret
    return DEMO_CLIENT if settings.DEVELOPMENT and not (client or secret) else None


def user_of_client(client: str, secret: str) -> Guid | None:
    """The user whom a client's tokens are for; None for a wrong id or secret."""
    own = credentials()
    known = [] if own is None else [(*own, SERVICE_USER)]
    known += [
        (one["client_id"], one["client_secret"], one["user"])
        for one in settings.PORTICO["CRM_SERVER_CLIENTS"]
    ]
    found = None
    for id, password, user in known:
        same = secrets.compare_digest(client.encode(), id.encode())
        if secrets.compare_digest(secret.encode(), password.encode()) and same:
            found = user
    return found
