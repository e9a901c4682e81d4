"""What every token must say of itself, whoever signed it (RFC 7519, RFC 8725), and how claims are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from runtime.callers.caller import Claims
from runtime.callers.refusals import invalid_token

REQUIRED = ("iss", "sub", "aud", "exp")

# Subjects are kept in rows and cache keys.
_LONGEST_SUBJECT = 255


def check(claims: Claims, *, audiences: Iterable[str]) -> None:
    """Hold verified `claims` to a stricter reading than the libraries': an audience that is one of
    `audiences`, a textual subject, a finite expiry. Raises Problem 401 `invalid_token`.
    """
    for name in REQUIRED:
        if name not in claims:
            raise invalid_token(f"The token has no `{name}` claim.", "missing_claim")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or "\0" in subject:
        raise invalid_token("The token's `sub` claim must be a text.", "subject")
    if set(_texts(claims["aud"])).isdisjoint(audiences):
        raise invalid_token("The token is not for this service (`aud`).", "audience")
    expires = claims["exp"]
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not math.isfinite(expires):
        raise invalid_token("The token's `exp` claim must be a number.", "expiry")


def claim_at(claims: Claims, path: str) -> Any:
    """The value at `path`: the claim of exactly that name (which may hold dots, as a URL does), or else the
    nested one that the dots lead to, such as `realm_access.roles`. None where there is none.
    """
    if path in claims:
        return claims[path]
    value: Any = claims
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def values_of(claim: Any, known: Mapping[str, Any]) -> tuple[str, ...]:
    """The values that a claim names: those of an array of texts; of one text itself, where it is in `known`,
    or else its words (`"Sales Lead"`, as scopes are written). Nothing for any other shape.
    """
    if isinstance(claim, str):
        # A name with a space in it is one name where the configuration has it so.
        return (claim,) if claim in known else tuple(claim.split())
    return _texts(claim)


def _texts(claim: Any) -> tuple[str, ...]:
    """One text, or an array of nothing but texts: a part of a stranger thing is no claim at all."""
    if isinstance(claim, str):
        return (claim,)
    if isinstance(claim, list) and all(isinstance(value, str) for value in claim):
        return tuple(claim)
    return ()
