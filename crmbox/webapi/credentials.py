"""The clients that the CRM server gives tokens to, and what each may show for itself.

As an application of Entra ID, a client has a secret, a certificate, or a token of another issuer that it is
federated with.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jwt
from cryptography import x509
from django.conf import settings

from crmbox.engine.identities import SERVICE_USER
from crmclient.values import Guid, parse_guid

DEMO_CLIENT: Final = ("portico-demo", "demo")
"""What is good on a developer's machine, unless settings say otherwise."""

FEDERATION_AUDIENCE: Final = "api://AzureADTokenExchange"
"""The audience that Entra ID proposes for tokens of other issuers."""

_FEDERATION: Final = ("federated_issuer", "federated_subject", "federated_keys")


@dataclass(frozen=True, slots=True)
class Federation:
    """Tokens that `issuer` makes for `subject` are accepted from the client.

    `keys` is a file with the JWKS of the issuer.
    """

    issuer: str
    subject: str
    keys: Path
    audience: str = FEDERATION_AUDIENCE

    def key_set(self) -> jwt.PyJWKSet:
        """Read the keys of the issuer. Raises OSError, ValueError and PyJWTError for a file without keys."""
        return jwt.PyJWKSet.from_dict(json.loads(self.keys.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Client:
    """A client of the CRM server.

    Its tokens are those of the system user `user`; `certificate` is a PEM file.
    """

    id: str
    user: Guid
    secret: str = ""
    certificate: Path | None = None
    federation: Federation | None = None

    def has_secret(self, secret: str) -> bool:
        """Return whether the secret is right, in a time that does not tell how much of a wrong one is."""
        same = secrets.compare_digest(secret.encode(), self.secret.encode())
        # An empty secret stands for none, which nothing matches.
        return same and self.secret != ""

    def x509_certificate(self) -> x509.Certificate | None:
        """Read the certificate; None without one.

        It is read each time, so that a renewed one is used. Raises OSError, and ValueError for a file of
        another kind.
        """
        if self.certificate is None:
            return None
        return x509.load_pem_x509_certificate(self.certificate.read_bytes())


def credentials() -> tuple[str, str] | None:
    """Return the id and secret of the service's client; None if they are not set, when it gets no token."""
    client, secret = settings.PORTICO["CRM_SERVER_CLIENT_ID"], settings.PORTICO["CRM_SERVER_CLIENT_SECRET"]
    if client and secret:
        return client, secret
    return DEMO_CLIENT if settings.DEVELOPMENT and not (client or secret) else None


def client_of(id: str) -> Client | None:
    """Return the client with this id, or None. Of several, the last one in the settings is returned."""
    match = None
    # All are compared, each in constant time: how long it takes does not tell which ids there are.
    for client in _clients():
        if secrets.compare_digest(id.encode(), client.id.encode()):
            match = client
    return match


def check_clients() -> None:
    """Raise ValueError if a client in CRM_SERVER_CLIENTS could never get a token."""
    for setting in settings.PORTICO["CRM_SERVER_CLIENTS"]:
        _check_setting(setting)


def _clients() -> Iterator[Client]:
    """Yield the service's own client, if it may get tokens, and those of CRM_SERVER_CLIENTS."""
    own_credentials = credentials()
    if own_credentials is not None:
        yield Client(own_credentials[0], SERVICE_USER, secret=own_credentials[1])
    for setting in settings.PORTICO["CRM_SERVER_CLIENTS"]:
        yield _client(setting)


def _client(setting: Mapping[str, str]) -> Client:
    """Return the client that an entry of CRM_SERVER_CLIENTS describes. Its files are not read yet."""
    certificate = setting.get("certificate")
    federation = None
    if "federated_keys" in setting:
        federation = Federation(
            setting["federated_issuer"],
            setting["federated_subject"],
            Path(setting["federated_keys"]),
            setting.get("federated_audience", FEDERATION_AUDIENCE),
        )
    return Client(
        setting["client_id"],
        setting["user"],
        secret=setting.get("client_secret", ""),
        certificate=Path(certificate) if certificate else None,
        federation=federation,
    )


def _check_setting(setting: Mapping[str, str]) -> None:
    """Raise ValueError for a client of CRM_SERVER_CLIENTS that could never get a token."""
    client_label = f"CRM_SERVER_CLIENTS: {setting['client_id']}"
    try:
        parse_guid(setting["user"])
    except ValueError:
        raise ValueError(f"{client_label}: the user is not an id. Write the id of a system user.") from None
    missing = [name for name in _FEDERATION if name not in setting]
    if missing and len(missing) < len(_FEDERATION):
        raise ValueError(f"{client_label}: {', '.join(missing)} is missing. A federation needs all of them.")
    client = _client(setting)
    if not (client.secret or client.certificate or client.federation):
        raise ValueError(
            f"{client_label} has nothing to show for itself. "
            "Add client_secret, certificate, or federated_issuer, federated_subject and federated_keys."
        )
    try:
        client.x509_certificate()
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{client_label}: {client.certificate} is not a certificate that can be read "
            f"({type(error).__name__}). Write the path of a PEM file."
        ) from error
    try:
        if client.federation is not None:
            client.federation.key_set()
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise ValueError(
            f"{client_label}: {setting['federated_keys']} is not a key set that can be read "
            f"({type(error).__name__}). Write the path of a file with the issuer's JWKS."
        ) from error
