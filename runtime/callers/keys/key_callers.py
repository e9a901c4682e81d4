"""From an API key to the caller: as a bearer token, or through the access token that it was exchanged for."""

from __future__ import annotations

import math

from runtime.callers.caller import Caller, Claims
from runtime.callers.keys import key_verification
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.keys.key_verification import OWN_ISSUER, verify_sent

_SUBJECT = "key:"


def key_in(authorization: str) -> tuple[str, str] | None:
    """Return prefix and secret of the API key in an `Authorization` header; None for any other token."""
    return key_verification.key_in(authorization, ApiKey)


def claims_of_sent_key(prefix: str, secret: str, address: str) -> tuple[Claims, float]:
    """Check an API key that was sent as a bearer token.

    Return the claims that a token of the key would have, and the time the key expires (Unix seconds; infinity
    for never). `address` is the client's IP address. Raises RefusedCaller 401 `invalid_token`, 429
    `too_many_requests`.
    """
    key = verify_sent(ApiKey, prefix, secret, address)
    expires_at = math.inf if key.expires_at is None else key.expires_at.timestamp()
    return {"iss": OWN_ISSUER, "sub": subject_of(key)}, expires_at


def subject_of(key: ApiKey) -> str:
    """Return the `sub` of the tokens that a key is exchanged for."""
    return f"{_SUBJECT}{key.prefix}"


def is_of_a_key(claims: Claims) -> bool:
    """Whether verified claims are those of a token that an API key was exchanged for, or of the key
    itself.
    """
    return bool(claims["iss"] == OWN_ISSUER and claims["sub"].startswith(_SUBJECT))


def caller_of(claims: Claims) -> Caller | None:
    """Return the caller of the key in verified `claims`; None when the key is inactive or has expired."""
    prefix = claims["sub"].removeprefix(_SUBJECT)
    key = ApiKey.objects.filter(prefix=prefix, active=True).prefetch_related("roles").first()
    if key is None or key.has_expired:
        return None
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(role.name for role in key.roles.all()),
        type=str(key.caller_type_id),
        record=None if key.record is None else str(key.record),
        networks=key.allowed_networks,
        rate=key.rate,
    )
