"""The client that the CRM server gives tokens to."""

from __future__ import annotations

from typing import Final

from django.conf import settings

DEMO_CLIENT: Final = ("portico-demo", "demo")
"""What is good on a developer's machine, unless settings say otherwise."""


def credentials() -> tuple[str, str] | None:
    """Its id and secret; None where none are set, so that no client gets a token."""
    client, secret = settings.PORTICO["CRM_SERVER_CLIENT_ID"], settings.PORTICO["CRM_SERVER_CLIENT_SECRET"]
    if client and secret:
        return client, secret
    return DEMO_CLIENT if settings.DEVELOPMENT and not (client or secret) else None
