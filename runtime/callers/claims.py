"""What is asked of the claims that every token must have, whoever signed it (RFC 7519, RFC 8725)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from designer.token_issuers.claim_paths import texts_of
from runtime.callers.caller import Claims
from runtime.callers.refusals import RefusedCaller, invalid_token

REQUIRED = ("iss", "sub", "aud", "exp")

# Subjects are kept in rows and cache keys.
_LONGEST_SUBJECT = 255
_FARTHEST = 2**63


def check(claims: Claims, *, audiences: Iterable[str]) -> None:
    """Check verified `claims` more strictly than the libraries do.

    The token must have an audience that is one of `audiences`, a `sub` that is a text, and a finite `exp`.
    Raises Problem 401 `invalid_token`.
    """
    refusal = (
        refusal_of_subject(claims) or refusal_of_audience(claims, audiences) or refusal_of_expiry(claims)
    )
    if refusal is not None:
        raise refusal


def refusal_of_subject(claims: Claims) -> RefusedCaller | None:
    """Return the refusal of a token that lacks one of `REQUIRED`, or whose `sub` cannot be stored."""
    for name in REQUIRED:
        if name not in claims:
            return invalid_token(f"The token has no `{name}` claim.", "missing_claim")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or "\0" in subject:
        return invalid_token("The token's `sub` claim must be a text.", "subject")
    return None


def refusal_of_audience(claims: Claims, audiences: Iterable[str]) -> RefusedCaller | None:
    """Return the refusal of a token that has none of `audiences`."""
    if set(texts_of(claims.get("aud"))).isdisjoint(audiences):
        return invalid_token("The token is not for this service (`aud`).", "audience")
    return None


def refusal_of_expiry(claims: Claims) -> RefusedCaller | None:
    """Return the refusal of a token whose `exp` is no time."""
    if not is_time(claims.get("exp")):
        return invalid_token("The token's `exp` claim must be a number.", "expiry")
    return None


def is_time(value: object) -> TypeGuard[float]:
    """Whether the value of a claim is a time: seconds since 1970, not infinite, and in 64 bits."""
    # Not `math.isfinite`: JSON has whole numbers of any length, and it fails for one that no float holds.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _FARTHEST
