"""From the `Authorization` header to the caller.

A token is verified once a minute at most: what was found is kept by the token's digest, so that a steady
caller costs a hash and a look-up. That minute is also how long a closed account, a lost role or a user
disabled on the platform can go unnoticed; nothing below keeps any of them longer. While the platform is
away it tells nothing new: for a quarter of an hour what it told last of a user stands, so that what needs no
platform is still answered.
"""

from __future__ import annotations

import hashlib
import re
import time
from functools import cache
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from crmclient import Guid
from crmclient.errors import PlatformFailure, RecordNotFound
from crmclient.metadata import PlatformUser
from designer.platform import get_platform
from runtime.callers import issuers
from runtime.callers.cache import RecentCache
from runtime.callers.caller import Caller, Claims, Identity
from runtime.callers.refusals import RefusedCaller, invalid_token, no_platform_user

LONGEST_HEADER = 8 * 1024

# RFC 7235: the scheme is written in any case. A comma, where two headers were joined, is in no token.
_BEARER = re.compile(r"bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)", re.IGNORECASE)

_verified: RecentCache[bytes, tuple[Caller, float]] = RecentCache(size=10_000)
_last_known: RecentCache[Guid, PlatformUser] = RecentCache(size=10_000, seconds=15 * 60)


class UserResolver(Protocol):
    """What `USER_RESOLVER` names. None refuses the token with 401."""

    def __call__(self, claims: Claims) -> Identity | None: ...


def authenticate(authorization: str | None) -> Caller | None:
    """The caller that an `Authorization` header stands for; None without a header.

    Raises Problem 401 `invalid_token` for anything but a valid bearer token, and 403 `no_platform_user` for a
    caller whose user is disabled on the platform.
    """
    if authorization is None:
        return None
    if len(authorization) > LONGEST_HEADER:
        raise invalid_token("The Authorization header is too long.")
    key = hashlib.sha256(authorization.encode("utf-8", "surrogatepass")).digest()
    known = _verified.get(key)
    if known is not None:
        caller, good_until = known
        if time.time() >= good_until:
            raise _refused(caller.issuer, "The token has expired.", "expired")
        return caller
    verified = issuers.verify(_bearer_token(authorization))
    caller = identify(verified.claims)
    _verified.put(key, (caller, verified.good_until))
    return caller


def identify(claims: Claims) -> Caller:
    """The caller of verified `claims`, through the user resolver."""
    identity = _resolver(settings.PORTICO["USER_RESOLVER"])(claims)
    if identity is None:
        raise _refused(claims["iss"], "The token's account is closed or unknown here.", "account_unknown")
    if not isinstance(identity, Identity):
        raise TypeError(f"USER_RESOLVER must answer an Identity or None, not {type(identity).__name__}")
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(identity.roles),
        platform_user=identity.platform_user,
        profile=None if identity.platform_user is None else _profile(claims["iss"], identity.platform_user),
        claims=claims,
    )


def forget() -> None:
    """Verify every token anew, with the issuers as they are configured now."""
    issuers.forget()
    _verified.clear()
    _last_known.clear()


def _bearer_token(authorization: str) -> str:
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise invalid_token("Write `Authorization: Bearer` and one token.")
    return match.group(1)


def _refused(issuer: str, detail: str, reason: str) -> RefusedCaller:
    refusal = invalid_token(detail, reason)
    refusal.issuer = issuer
    return refusal


def _profile(issuer: str, user: Guid) -> PlatformUser:
    try:
        profile = get_platform().user(user)
    except RecordNotFound as error:
        raise no_platform_user(
            issuer, "Your user on the platform no longer exists.", "user_unknown"
        ) from error
    except PlatformFailure:
        known = _last_known.get(user)
        if known is None:
            raise
        profile = known
    else:
        _last_known.put(user, profile)
    if profile.disabled:
        raise no_platform_user(issuer, "Your user on the platform is disabled.", "user_disabled")
    return profile


@cache
def _resolver(path: str) -> UserResolver:
    return cast(UserResolver, import_string(path))
