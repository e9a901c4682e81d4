"""Checks the claims that every token must have, whoever signed it (RFC 7519, RFC 8725)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from designer.token_issuers.claim_paths import texts_of
from runtime.callers.caller import Claims
from runtime.callers.refusals import invalid_token

REQUIRED = ("iss", "sub", "aud", "exp")

# Subjects are kept in rows and cache keys.
_LONGEST_SUBJECT = 255


def check(claims: Claims, *, audiences: Iterable[str]) -> None:
    """Check verified `claims` more strictly than the libraries do.

    The token must have an audience that is one of `audiences`, a `sub` that is a text, and a finite `exp`.
    Raises Problem 401 `invalid_token`.
    """
    for name in REQUIRED:
        if name not in claims:
            raise invalid_token(f"The token has no `{name}` claim.", "missing_claim")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or "\0" in subject:
        raise invalid_token("The token's `sub` claim must be a text.", "subject")
    if set(texts_of(claims["aud"])).isdisjoint(audiences):
        raise invalid_token("The token is not for this service (`aud`).", "audience")
    expires = claims["exp"]
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not math.isfinite(expires):
        raise invalid_token("The token's `exp` claim must be a number.", "expiry")
