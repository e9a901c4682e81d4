"""Who may call what writes is a publisher's decision."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition
from designer.readiness.findings import Finding, Severity

PERMISSION = "designer.change_write_access"
RULE = "write-access-right"


def writes(endpoint: Endpoint) -> bool:
    return any(method != "GET" for method in endpoint.kind.methods)


def access_refusals(
    user: AbstractBaseUser | AnonymousUser, before: EndpointDefinition | None, after: Endpoint
) -> Iterator[Finding]:
    """What forbids `user` the access that `after` gives, where it was `before`; None: it is new.

    Drafts are everyone's. What is switched on for the first time may be for any caller with a token.
    """
    definition = after.definition
    if not definition.enabled or not writes(after) or user.has_perm(PERMISSION):  # type: ignore[union-attr]
        return
    if before is None or not before.enabled:
        allowed = definition.access.authentication_required
    else:
        allowed = before.access == definition.access
    if not allowed:
        message = _("It writes: who may call it is for a publisher to change.")
        field = "roles" if definition.access.authentication_required else "authentication_required"
        yield Finding(RULE, Severity.BLOCKING, message, definition.key, field)
