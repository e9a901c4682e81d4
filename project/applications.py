"""The service's applications in Dataverse. Each is an application user with its own budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from crmclient.dataverse.http.throttle import SharedThrottle
    from crmclient.dataverse.http.tokens import TokenSource

# The system-assigned identity: nobody has to know its id.
OWN_IDENTITY = "managed identity"


@dataclass(frozen=True, slots=True)
class Application:
    """An application of the service in Dataverse, by its `id`.

    It proves who it is by one of these: a secret; a certificate's file, with its password; a file with a
    token of the platform that the service runs on; nothing, if it is a managed identity.
    """

    id: str
    secret: str = field(default="", repr=False)
    certificate: str = ""
    certificate_password: str = field(default="", repr=False)
    federated_token_file: str = ""

    @property
    def is_managed(self) -> bool:
        """Whether the application is a managed identity of Azure: it is one if it has no credential of its
        own.
        """
        credential = self.secret or self.certificate or self.federated_token_file
        return bool(settings.PORTICO["CRM_MANAGED_IDENTITY"]) and not credential

    def tokens(self, scope: str) -> TokenSource:
        """Return where this application gets its tokens for `scope`: a token URL, Azure (managed identity),
        or Entra ID.
        """
        env = settings.PORTICO
        if env["CRM_TOKEN_URL"]:
            from crmclient.dataverse.http.client_credentials import ClientCredentials

            url = env["CRM_TOKEN_URL"]
            return ClientCredentials(
                url=url,
                client_id=self.id,
                client_secret=self.secret,
                scope=scope,
                throttle=_throttle(env, url, self.id),
            )
        if self.is_managed:
            from crmclient.dataverse.http.managed_identity import ManagedIdentity

            return ManagedIdentity(
                "" if self.id == OWN_IDENTITY else self.id, scope.removesuffix("/.default")
            )
        from crmclient.dataverse.http.clouds import authority_of
        from crmclient.dataverse.http.entra import Entra, federated

        credential: str | dict[str, Any] = self.secret
        if self.certificate:
            from crmclient.dataverse.http.certificate_files import certificate

            credential = certificate(Path(self.certificate), self.certificate_password)
        elif self.federated_token_file:
            credential = federated(Path(self.federated_token_file))
        authority = env["CRM_AUTHORITY"].rstrip("/") or authority_of(env["CRM_URL"])
        return Entra(
            tenant_id=env["CRM_TENANT_ID"],
            client_id=self.id,
            credential=credential,
            scope=scope,
            authority=authority,
        )


def of_the_platform() -> list[Application]:
    """Return the applications, CRM_CLIENT_ID first. An application that CRM_CLIENTS names again is listed
    once.
    """
    by_id: dict[str, Application] = {}
    for application in _configured_applications():
        by_id.setdefault(application.id.lower(), application)
    return list(by_id.values())


def listed_again() -> list[str]:
    """Return the ids of applications that the settings list more than once, each id as it is written last."""
    ids = [application.id for application in _configured_applications()]
    times = Counter(id.lower() for id in ids)
    return sorted({id.lower(): id for id in ids if times[id.lower()] > 1}.values())


def _configured_applications() -> Iterator[Application]:
    """Yield the application that the settings CRM_CLIENT_… describe, then those of CRM_CLIENTS."""
    env = settings.PORTICO
    if env["CRM_CLIENT_ID"] or env["CRM_MANAGED_IDENTITY"]:
        yield Application(
            id=env["CRM_CLIENT_ID"] or OWN_IDENTITY,
            secret=env["CRM_CLIENT_SECRET"],
            certificate=env["CRM_CERTIFICATE"],
            certificate_password=env["CRM_CERTIFICATE_PASSWORD"],
            federated_token_file=env["CRM_FEDERATED_TOKEN_FILE"],
        )
    for client in env["CRM_CLIENTS"]:
        yield Application(
            id=client["client_id"],
            secret=client.get("client_secret", ""),
            certificate=client.get("certificate", ""),
            certificate_password=client.get("certificate_password", ""),
            federated_token_file=client.get("federated_token_file", ""),
        )


def _throttle(env: dict[str, Any], url: str, client_id: str) -> SharedThrottle | None:
    """Return the pauses that `url` asked for, shared by all processes through Redis; None without Redis."""
    if not env["CACHE_URL"]:
        return None
    from project.shared_throttle import RedisThrottle

    return RedisThrottle(env["CACHE_URL"], url, client_id)
