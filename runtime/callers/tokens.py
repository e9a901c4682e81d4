"""From the `Authorization` header to the caller.

A token is verified once a minute at most: what was found is kept by the token's digest, so that a steady
caller costs a hash and a look-up; what the platform says of a user is kept by the user, whatever the token.
That minute is also how long a closed account, a lost role or a user disabled on the platform can go
unnoticed; nothing below keeps any of them longer. An edit of the configuration ends it. While the platform is
away it tells nothing new: for a quarter of an hour what it told last of a user stands, so that what needs no
platform is still answered.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from dataclasses import asdict
from functools import cache
from typing import Any, Protocol

from django.conf import settings

from crmclient import Guid
from crmclient.errors import PlatformFailure, RecordNotFound
from crmclient.extensions import Choice
from crmclient.metadata import PlatformUser
from designer.platform import get_platform
from runtime.callers import issuers
from runtime.callers.cache import RecentCache
from runtime.callers.caller import Caller, Claims, Identity
from runtime.callers.minute_cache import Kept, MinuteCache
from runtime.callers.refusals import RefusedCaller, invalid_token, no_platform_user

LONGEST_HEADER = 8 * 1024

# RFC 7235: the scheme is written in any case. A comma, where two headers were joined, is in no token.
_BEARER = re.compile(r"bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)", re.IGNORECASE)

_verified: RecentCache[tuple[bytes, object], tuple[Caller, float]] = RecentCache(size=10_000)
_last_known: RecentCache[Guid, PlatformUser] = RecentCache(size=10_000, seconds=15 * 60)


class UserResolver(Protocol):
    """What `USER_RESOLVER` names. None refuses the token with 401."""

    def __call__(self, claims: Claims) -> Identity | None: ...


RESOLVERS: Choice[UserResolver] = Choice(
    "portico.resolvers", "a function that turns a token's claims into a caller"
)
RESOLVERS.register("standard", "runtime.callers.resolver:resolve")


def _packed(profile: PlatformUser | None) -> Any:
    return None if profile is None else asdict(profile)


def _unpacked(packed: Any) -> PlatformUser | None:
    if packed is None:
        return None
    members: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in packed.items()
    }
    return PlatformUser(**members)


# None: the platform has no such user. That is kept too, or whoever was deleted would be asked for each time.
_profiles: MinuteCache[PlatformUser | None] = MinuteCache("profile", pack=_packed, unpack=_unpacked)


def authenticate(authorization: str | None, roles: object = None) -> Caller | None:
    """The caller that an `Authorization` header stands for, while the roles are as `roles` says; None
    without a header.

    Raises Problem 401 `invalid_token` for anything but a valid bearer token, and 403 `no_platform_user` for a
    caller whose user is disabled on the platform.
    """
    if authorization is None:
        return None
    if len(authorization) > LONGEST_HEADER:
        raise invalid_token("The Authorization header is too long.")
    key = hashlib.sha256(authorization.encode("utf-8", "surrogatepass")).digest(), roles
    known = _verified.get(key)
    if known is not None and time.monotonic() < known[0].known_until:
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
    # Where the platform has no users, an account's is left over from another platform.
    has_users = get_platform().conventions.users is not None
    user = identity.platform_user if has_users else None
    profile = None if user is None else _profile(claims["iss"], user)
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(identity.roles),
        platform_user=user,
        profile=None if profile is None else profile.value,
        claims=claims,
        known_until=math.inf if profile is None else profile.until,
    )


def forget() -> None:
    """Verify every token anew, with the issuers as they are configured now."""
    issuers.forget()
    _verified.clear()
    _last_known.clear()
    _profiles.clear()


def _bearer_token(authorization: str) -> str:
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise invalid_token("Write `Authorization: Bearer` and one token.")
    return match.group(1)


def _refused(issuer: str, detail: str, reason: str) -> RefusedCaller:
    refusal = invalid_token(detail, reason)
    refusal.issuer = issuer
    return refusal


def _profile(issuer: str, user: Guid) -> Kept[PlatformUser]:
    kept = _profiles.get((settings.PORTICO["CRM_URL"], user), lambda: _read_profile(user))
    if kept.value is None:
        raise no_platform_user(issuer, "Your user on the platform no longer exists.", "user_unknown")
    if kept.value.disabled:
        raise no_platform_user(issuer, "Your user on the platform is disabled.", "user_disabled")
    return Kept(kept.value, kept.until)


def _read_profile(user: Guid) -> PlatformUser | None:
    try:
        profile = get_platform().user(user)
    except RecordNotFound:
        return None
    except PlatformFailure:
        known = _last_known.get(user)
        if known is None:
            raise
        return known
    _last_known.put(user, profile)
    return profile


@cache
def _resolver(name: str) -> UserResolver:
    return RESOLVERS.find(name)
