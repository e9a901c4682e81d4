"""Advice for operators about failures of Dataverse, or of the connection to it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from math import ceil
from typing import Final

from crmclient.dataverse.failures import TokenNotTaken
from crmclient.dataverse.http.managed_identity import IdentityUnavailable
from crmclient.dataverse.http.token_refusals import TokenRefused, TokenThrottled, TokenUnavailable
from crmclient.dataverse.http.transport import cause_of
from crmclient.durations import duration
from crmclient.errors import (
    DeadlineExceeded,
    MetadataPending,
    MissingPrivilege,
    PlatformError,
    PlatformFault,
    Throttled,
    TooSlow,
    Unavailable,
    UnexpectedAnswer,
    UnknownHost,
    UntrustedCertificate,
)
from crmclient.sentences import Sentence


def advice_on(error: PlatformError) -> str:
    """Return what to do about a failure; empty for a refusal, whose message says what would be right."""
    seconds = ceil(getattr(error, "retry_after", None) or 0)
    # Subclasses come before the classes that they are of, such as MetadataPending before Unavailable.
    if isinstance(error, MissingPrivilege):
        return privilege_advice(error.privilege)
    if isinstance(error, TokenRefused):
        return error.advice
    if isinstance(error, TokenUnavailable | TokenThrottled | IdentityUnavailable):
        return _token_advice(error, max(1, seconds))
    if isinstance(error, TokenNotTaken):
        return Sentence(
            "Add the application as an application user of this organisation, and let CRM_URL and the "
            "tenant be those of the same organisation."
        )
    if isinstance(error, Throttled):
        return Sentence(
            "Try again in %(time)s. If this happens often, add application users in CRM_CLIENTS.",
            time=duration(max(1, seconds)),
        )
    if isinstance(error, DeadlineExceeded | TooSlow):
        return Sentence(
            "Try again. If Dataverse stays slow, raise METADATA_TIMEOUT for metadata, or PLATFORM_TIMEOUT "
            "for everything else."
        )
    if isinstance(error, MetadataPending):
        return Sentence(
            "Try again in a moment. If it takes minutes, look at the service health in the Power Platform "
            "admin centre."
        )
    if isinstance(error, Unavailable):
        return _connection_advice(error, max(1, seconds))
    if isinstance(error, PlatformFault):
        return Sentence(
            "Try again. If it lasts, look at the service health in the Power Platform admin centre, or ask "
            "Microsoft's support."
        )
    if isinstance(error, UnexpectedAnswer):
        return Sentence(
            "Something else may answer in the place of Dataverse, such as a firewall, a proxy or a sign-in "
            "page: check CRM_URL and what is on the way there."
        )
    return ""


def _connection_advice(error: Unavailable, seconds: int) -> str:
    """Return what to do about Dataverse being away, or about the way there."""
    if isinstance(error, UnknownHost):
        return unknown_host_advice("CRM_URL")
    if isinstance(error, UntrustedCertificate):
        return CERTIFICATE_ADVICE
    return Sentence(
        "Try again in %(time)s. If it lasts, look at the service health in the Power Platform admin centre, "
        "and at the network from this machine to CRM_URL.",
        time=duration(seconds),
    )


CERTIFICATE_ADVICE: Final = Sentence(
    "Where a proxy opens TLS, or the authority of the certificate is your own, set REQUESTS_CA_BUNDLE to a "
    "file with this authority. Where the certificate has expired or is for another name, have it renewed."
)


def unknown_host_advice(setting: str) -> Sentence:
    """Return what to do about a host without an address. `setting` names the setting with the host."""
    return Sentence("Correct %(setting)s, or the DNS here.", setting=setting)


def _token_advice(error: TokenUnavailable | TokenThrottled | IdentityUnavailable, seconds: int) -> str:
    """Return what to do about a token that cannot be had at the moment."""
    if isinstance(error, IdentityUnavailable):
        # A proxy or the DNS has no part in it: the endpoint is on the machine itself.
        return Sentence(
            "On Azure, assign an identity to this machine, container or app. Elsewhere, clear "
            "CRM_MANAGED_IDENTITY, and set a secret, a certificate or a federated token."
        )
    if isinstance(error, TokenThrottled):
        return Sentence("Try again in %(time)s.", time=duration(seconds))
    if cause_of(error, ssl.SSLCertVerificationError) is not None:
        return CERTIFICATE_ADVICE
    if cause_of(error, socket.gaierror) is not None:
        return unknown_host_advice("CRM_AUTHORITY or CRM_TOKEN_URL")
    return Sentence(
        "Try again in %(time)s. If it lasts, look at the service health of Entra ID, and let this machine "
        "connect to CRM_AUTHORITY or CRM_TOKEN_URL. Behind a proxy, set HTTPS_PROXY.",
        time=duration(seconds),
    )


def privilege_advice(privilege: str, roles: Sequence[str] = ()) -> Sentence:
    """Return how to grant a missing privilege, which is empty when Dataverse does not name it.

    `roles` are the names of the account's own security roles, as far as they are known.
    """
    name = privilege or Sentence("a privilege")
    if not roles:
        return Sentence("Add %(privilege)s to its security role, for the organisation.", privilege=name)
    if len(roles) == 1:
        return Sentence(
            "Add %(privilege)s to the security role %(role)s, for the organisation.",
            privilege=name,
            role=roles[0],
        )
    return Sentence(
        "Add %(privilege)s to one of the security roles %(roles)s, for the organisation.",
        privilege=name,
        roles=", ".join(roles),
    )
