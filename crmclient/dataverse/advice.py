"""Advice for operators about failures of Dataverse, or of the connection to it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from crmclient.dataverse.failures import TokenNotTaken
from crmclient.dataverse.http.token_refusals import TokenRefused
from crmclient.errors import (
    DeadlineExceeded,
    MetadataPending,
    MissingPrivilege,
    PlatformError,
    PlatformFault,
    Throttled,
    Unavailable,
    UnexpectedAnswer,
)
from crmclient.sentences import Counted, Sentence


def advice_on(error: PlatformError) -> str:
    """Return what to do about a failure; empty for a refusal, whose message says what would be right."""
    seconds = ceil(getattr(error, "retry_after", None) or 0)
    # Subclasses come before the classes that they are of, such as MetadataPending before Unavailable.
    if isinstance(error, MissingPrivilege):
        return privilege_advice(error.privilege)
    if isinstance(error, TokenRefused):
        return error.advice
    if isinstance(error, TokenNotTaken):
        return Sentence(
            "Add the application as an application user of this organisation, and let CRM_URL and the "
            "tenant be those of the same organisation."
        )
    if isinstance(error, Throttled):
        return Counted(
            "Try again in %(number)s second. If this happens often, add application users in CRM_CLIENTS.",
            "Try again in %(number)s seconds. If this happens often, add application users in CRM_CLIENTS.",
            max(1, seconds),
        )
    if isinstance(error, DeadlineExceeded):
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
        return Counted(
            "Try again in %(number)s second. If it lasts, look at the service health in the Power Platform "
            "admin centre, and at the network from this machine to CRM_URL.",
            "Try again in %(number)s seconds. If it lasts, look at the service health in the Power Platform "
            "admin centre, and at the network from this machine to CRM_URL.",
            max(1, seconds),
        )
    if isinstance(error, PlatformFault):
        return Sentence(
            "Try again. If it lasts, look at the service health in the Power Platform admin centre, or ask "
            "Microsoft's support."
        )
    if isinstance(error, UnexpectedAnswer):
        return Sentence(
            "Something else may answer in the place of Dataverse, such as a proxy or a sign-in page: check "
            "CRM_URL and what is on the way there."
        )
    return ""


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
