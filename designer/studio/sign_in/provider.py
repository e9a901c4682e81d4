"""The identity provider that the studio's settings name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Provider:
    """The identity provider, as the settings STUDIO_OIDC_… describe it.

    `groups` has the names of groups of the studio by value of the claim at `groups_claim`. `contact` is whom
    people ask who may not enter. After `hours`, people sign in again.
    """

    issuer: str
    client_id: str
    client_secret: str
    name: str
    scopes: str
    groups_claim: str
    groups: Mapping[str, tuple[str, ...]]
    contact: str
    hours: int
    allow_private_addresses: bool

    @property
    def discovery(self) -> str:
        """The address of the provider's configuration (OpenID Connect Discovery 1.0)."""
        return f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"


def configured_provider() -> Provider | None:
    """Return the identity provider of the studio from the settings; None without one."""
    env = settings.PORTICO
    if not env["STUDIO_OIDC_ISSUER"]:
        return None
    return Provider(
        issuer=env["STUDIO_OIDC_ISSUER"],
        client_id=env["STUDIO_OIDC_CLIENT_ID"],
        client_secret=env["STUDIO_OIDC_CLIENT_SECRET"],
        name=env["STUDIO_OIDC_NAME"],
        scopes=" ".join(env["STUDIO_OIDC_SCOPES"].split()),
        groups_claim=env["STUDIO_OIDC_GROUPS_CLAIM"],
        groups=env["STUDIO_OIDC_GROUPS"],
        contact=env["STUDIO_OIDC_CONTACT"],
        hours=env["STUDIO_OIDC_HOURS"],
        allow_private_addresses=settings.DEVELOPMENT or env["STUDIO_OIDC_PRIVATE_ADDRESS"],
    )


def may_use_password(account: str) -> bool:
    """Return whether the settings let `account` log in with name and password."""
    allowed = settings.PORTICO["STUDIO_LOCAL_LOGIN"]
    return not allowed or account in allowed
