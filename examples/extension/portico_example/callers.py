"""A user resolver: callers are who the built-in resolver says they are, and have one more role."""

from __future__ import annotations

from runtime.callers.caller import Claims, Identity
from runtime.callers.resolver import resolve as resolve_as_usual

ROLE = "example"


def resolve(claims: Claims) -> Identity | None:
    identity = resolve_as_usual(claims)
    if identity is None:
        return None
    return Identity(roles=identity.roles | {ROLE}, platform_user=identity.platform_user)
