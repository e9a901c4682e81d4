"""Checks of the connection to a remote platform, before the service starts."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from crmclient.dataverse.http.certificate_files import problem_of
from crmclient.outbound import check_url, is_public
from project import applications
from project.addresses import is_loopback
from project.checks import TAG


@register(TAG)
def platform_can_be_reached(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return what is wrong with the settings of a remote platform, for Django's system checks."""
    if not settings.PORTICO["CRM_URL"]:
        return [*_address_of_dataverse()]
    return [
        *_addresses(),
        *_credentials(),
        *_files(),
        *_trusted_authorities(),
        *_applications_listed_again(),
    ]


def _address_of_dataverse() -> Iterator[CheckMessage]:
    """Find that Dataverse was chosen without saying which."""
    if settings.PORTICO["PLATFORM"] == "dataverse":
        yield Error(
            "PLATFORM=dataverse, but CRM_URL is not set.",
            hint="Set CRM_URL to the address of the environment, or leave PLATFORM out.",
            id="portico.E023",
        )


def _addresses() -> Iterator[CheckMessage]:
    """Find addresses of the platform that are not https, or lead into a private network."""
    for name in ("CRM_URL", "CRM_TOKEN_URL", "CRM_AUTHORITY"):
        url = settings.PORTICO[name]
        if not url:
            continue
        local = settings.DEVELOPMENT and is_loopback(urlsplit(url).hostname or "")
        try:
            check_url(url, insecure=local)
        except ValueError as error:
            # Not with the address: its user name and password would stand in the log.
            yield Error(
                f"{name}: {error}.",
                hint=f"Write it as in https://{_host(url)}. Plain http is allowed in development only, and "
                "only to this machine.",
                id="portico.E010",
            )
            continue
        if name == "CRM_URL" and _is_below_an_organisation(url):
            yield Error(
                f"CRM_URL={url!r} leads to a page or to the Web API of an organisation.",
                hint=f"Write the address of the organisation alone, such as https://{_host(url)}.",
                id="portico.E024",
            )
        if not local and not settings.PORTICO["CRM_PRIVATE_ADDRESS"] and _is_private(url):
            yield Error(
                f"{name}={url!r} leads into a private network.",
                hint="Set CRM_PRIVATE_ADDRESS=1 if that is meant.",
                id="portico.E011",
            )


def _host(url: str) -> str:
    """Return the host of a URL, with its port."""
    return urlsplit(url).netloc.rpartition("@")[2] or "contoso.crm.dynamics.com"


def _is_below_an_organisation(url: str) -> bool:
    """Whether a URL was copied from a browser or from *Developer resources*. On premises, the name of the
    organisation is a path, which is right.
    """
    parts = urlsplit(url)
    path = parts.path.lower()
    return bool(parts.query or parts.fragment) or "/api/" in f"{path}/" or path.endswith(".aspx")


def _is_private(url: str) -> bool:
    """Whether the host of a URL is in a private network. A host that cannot be resolved now counts as
    public.
    """
    try:
        return not is_public(url)
    except OSError:
        # A platform that is away is no reason not to start.
        return False


def _credentials() -> Iterator[CheckMessage]:
    """Find what is missing for the service to get a token of the platform.

    Entra ID needs a tenant, and of each application one of several credentials. Any other token URL needs a
    secret of each application.
    """
    env = settings.PORTICO
    clients = applications.of_the_platform()
    missing = [] if clients else ["CRM_CLIENT_ID"]
    uses_entra = not env["CRM_TOKEN_URL"]
    # Managed identities get their tokens from Azure, which knows the tenant.
    all_managed = bool(clients) and all(client.is_managed for client in clients)
    if uses_entra and not env["CRM_TENANT_ID"] and not all_managed:
        missing.append("CRM_TENANT_ID")
    for client in clients:
        has_other = client.certificate or client.federated_token_file or client.is_managed
        if not client.secret and not (uses_entra and has_other):
            missing.append(_settings_of_credential(client, uses_entra=uses_entra))
    if missing:
        yield Error(
            f"CRM_URL is set, but not {', '.join(missing)}.",
            hint="docs/dataverse.md says where each is found.",
            id="portico.E012",
        )


def _settings_of_credential(client: applications.Application, *, uses_entra: bool) -> str:
    """Return the settings that can hold the application's credential, as words of a sentence."""
    if _has_own_settings(client):
        secret, others, place = "CRM_CLIENT_SECRET", "CRM_CERTIFICATE and CRM_FEDERATED_TOKEN_FILE", ""
    else:
        secret, others = "client_secret", "certificate and federated_token_file"
        place = f" of {client.id} in CRM_CLIENTS"
    if uses_entra:
        return f"one of {secret}, {others}{place}"
    return f"{secret}{place}: with CRM_TOKEN_URL there is no other credential"


def _has_own_settings(client: applications.Application) -> bool:
    """Whether the settings CRM_CLIENT_… describe the application, not an entry of the list CRM_CLIENTS."""
    return bool(client.id == settings.PORTICO["CRM_CLIENT_ID"])


def _files() -> Iterator[CheckMessage]:
    """Find token files that do not exist, and certificates that do not exist or prove nothing."""
    for client in applications.of_the_platform():
        own = _has_own_settings(client)
        if client.certificate:
            place = "CRM_CERTIFICATE=" if own else f"CRM_CLIENTS: the certificate of {client.id}, "
            path = Path(client.certificate)
            problem = problem_of(path, client.certificate_password) if path.is_file() else "is no file"
            if problem is not None:
                yield Error(
                    f"{place}{client.certificate!r}: {problem}.",
                    hint="Write the path of a PFX file, or of a PEM file, with an RSA key and its "
                    "certificate, and write the password that it has, if any.",
                    id="portico.E013",
                )
        token = client.federated_token_file
        if token and not Path(token).is_file():
            place = (
                "CRM_FEDERATED_TOKEN_FILE="
                if own
                else f"CRM_CLIENTS: the federated_token_file of {client.id}, "
            )
            yield Error(
                f"{place}{token!r} is no file.",
                hint="Write the path of the file that the platform below projects the token to. On Azure's "
                "Kubernetes it is in AZURE_FEDERATED_TOKEN_FILE.",
                id="portico.E013",
            )


def _trusted_authorities() -> Iterator[CheckMessage]:
    """Find that the authorities that are trusted cannot be read: every connection would fail."""
    path = os.environ.get("REQUESTS_CA_BUNDLE", "")
    if not path or Path(path).is_dir():
        return
    try:
        # Of a file without certificates, the error is one of TLS; of a missing one, it is one of the system.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError:
        yield Error(
            f"REQUESTS_CA_BUNDLE={path!r} is no file with certificates.",
            hint="Name a PEM file with the authorities that are trusted, or leave the setting out.",
            id="portico.E025",
        )


def _applications_listed_again() -> Iterator[CheckMessage]:
    """Find applications that the settings list more than once: that brings no second budget."""
    for id in applications.listed_again():
        yield Warning(
            f"The application {id} is listed more than once in CRM_CLIENT_ID and CRM_CLIENTS. It counts "
            "once, with the credential that stands first.",
            hint="Remove the further entries from CRM_CLIENTS, or write the client_id of another one.",
            id="portico.W005",
        )
