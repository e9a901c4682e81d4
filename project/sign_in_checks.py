"""Checks of the studio's sign-in, before the service starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError

from crmclient.outbound import check_url
from project.checks import TAG


@register(TAG)
def people_can_sign_in(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return what is wrong with the settings of the studio's sign-in, for Django's system checks."""
    try:
        return [*_provider(), *_passwords()]
    except DatabaseError:
        # Not migrated yet, or not reachable: no reason not to start.
        return []


def _provider() -> Iterator[CheckMessage]:
    """Find mistakes in the settings of the studio's identity provider."""
    env = settings.PORTICO
    issuer = env["STUDIO_OIDC_ISSUER"]
    if not issuer:
        return
    try:
        check_url(issuer, insecure=settings.DEVELOPMENT)
    except ValueError as error:
        yield Error(
            f"STUDIO_OIDC_ISSUER={issuer!r}: {error}.",
            hint="Copy the `issuer` of the provider's discovery document.",
            id="portico.E015",
        )
    missing = [name for name in ("STUDIO_OIDC_CLIENT_ID", "STUDIO_OIDC_GROUPS") if not env[name]]
    if missing:
        yield Error(
            f"STUDIO_OIDC_ISSUER is set, but not {', '.join(missing)}: nobody could sign in.",
            hint="docs/studio.md has an example for Entra ID and for Keycloak.",
            id="portico.E016",
        )
    if "openid" not in env["STUDIO_OIDC_SCOPES"].split():
        yield Error(
            "STUDIO_OIDC_SCOPES lacks `openid`, so the provider would send no ID token.",
            hint="Write STUDIO_OIDC_SCOPES='openid profile email'.",
            id="portico.E017",
        )
    group_names = {name for names in env["STUDIO_OIDC_GROUPS"].values() for name in names}
    unknown = sorted(
        group_names - set(Group.objects.filter(name__in=group_names).values_list("name", flat=True))
    )
    if unknown:
        yield Warning(
            f"STUDIO_OIDC_GROUPS names groups that the studio does not have: {', '.join(unknown)}.",
            hint="Make them in the studio, under Accounts ▸ Groups, or correct the names.",
            id="portico.W003",
        )


def _passwords() -> Iterator[CheckMessage]:
    """Find mistakes in the setting of the accounts that may log in by password."""
    allowed = settings.PORTICO["STUDIO_LOCAL_LOGIN"]
    if not allowed:
        return
    if not settings.PORTICO["STUDIO_OIDC_ISSUER"]:
        yield Error(
            "STUDIO_LOCAL_LOGIN switches passwords off, but there is no STUDIO_OIDC_ISSUER to sign in at.",
            hint="Set STUDIO_OIDC_ISSUER, or leave STUDIO_LOCAL_LOGIN empty.",
            id="portico.E018",
        )
    usable = User.objects.filter(username__in=allowed, is_active=True, is_staff=True)
    if not any(account.has_usable_password() for account in usable):
        yield Warning(
            "No account of STUDIO_LOCAL_LOGIN can log in: while the provider is away, nobody could.",
            hint="Make the account with `manage.py createsuperuser`, or correct its name.",
            id="portico.W004",
        )
