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
import inspect
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Any, NamedTuple, Protocol

from django.conf import settings

from crmclient import Guid, Platform, Value
from crmclient.errors import (
    DeadlineExceeded,
    PlatformError,
    PlatformFailure,
    RecordNotFound,
    Throttled,
    Unavailable,
)
from crmclient.extensions import Choice
from crmclient.metadata import PlatformUser
from crmclient.query.ast import Query
from designer.configuration import Configuration, Revision
from designer.platform import get_platform
from runtime.callers import issuers
from runtime.callers.cache import RecentCache
from runtime.callers.caller import Caller, Claims, Identity
from runtime.callers.caller_records import CallerRecords, records_in
from runtime.callers.issuers import resolution
from runtime.callers.keys.key_callers import bearer, caller_of, is_of_a_key, key_in
from runtime.callers.keys.key_verification import refuse_elsewhere
from runtime.callers.minute_cache import CachedValue, MinuteCache
from runtime.callers.portable_values import Unportable, to_bytes
from runtime.callers.recognition import Recognition, present
from runtime.callers.refusals import RefusedCaller, invalid_token, no_platform_user, no_record

LONGEST_HEADER = 8 * 1024

# RFC 7235: the scheme is written in any case. A comma, where two headers were joined, is in no token.
_BEARER = re.compile(r"bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)", re.IGNORECASE)

_verified: RecentCache[tuple[bytes, object], tuple[Caller, float]] = RecentCache(size=10_000)
_last_known: RecentCache[Guid, PlatformUser] = RecentCache(size=10_000, seconds=15 * 60)
_last_active: RecentCache[tuple[str, Guid], bool] = RecentCache(size=10_000, seconds=15 * 60)


class _Record(NamedTuple):
    """Whether a record counts, None where there is none; and its row where that was read now."""

    counts: bool | None
    row: Mapping[str, Value] | None = None

    def packed(self) -> Any:
        """Return this record for other processes. The row is left out when it cannot be packed: they then
        read it themselves.
        """
        try:
            to_bytes(self.row)
        except Unportable:
            return [self.counts, None]
        return list(self)


class UserResolver(Protocol):
    """The function that `USER_RESOLVER` names. If it returns None, the token is refused with 401."""

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
# Of records that are no users.
_records: MinuteCache[_Record] = MinuteCache(
    "record", pack=lambda known: known.packed(), unpack=lambda packed: _Record(*packed)
)


def authenticate(
    authorization: str | None, recognition: Recognition | None = None, address: str = ""
) -> Caller | None:
    """Return the caller of an `Authorization` header that came from `address`; None without a header.

    `recognition` says who is known; by default only the issuers of the environment are. Raises Problem 401
    `invalid_token` for anything but a valid bearer token, and 403 `no_platform_user` or `no_record` for a
    caller whose record is gone or inactive.
    """
    if authorization is None:
        return None
    if len(authorization) > LONGEST_HEADER:
        raise invalid_token("The Authorization header is too long.")
    recognition = recognition or _of_environment()
    key = hashlib.sha256(authorization.encode("utf-8", "surrogatepass")).digest(), recognition
    verified = _verified.get(key)
    if verified is not None and time.monotonic() < verified[0].known_until:
        caller, good_until = verified
        if time.time() >= good_until:
            raise _refused(caller.issuer, "The token has expired.", "expired")
    else:
        claims, good_until = _claims(authorization, recognition, address)
        caller = identify(claims, recognition)
        _verified.put(key, (caller, good_until))
    if caller.networks:
        refuse_elsewhere(caller.networks, address)
    return caller


def identify(claims: Claims, recognition: Recognition | None = None) -> Caller:
    """Return the caller of verified `claims`: for an API key as the key says, else by the user resolver.

    Raises Problem 401 for an unknown caller, and 403 for a caller whose record is gone or inactive.
    """
    recognition = recognition or _of_environment()
    caller = caller_of(claims) if is_of_a_key(claims) else _resolved(claims, recognition)
    if caller is None:
        raise _refused(claims["iss"], "The token's account is closed or unknown here.", "account_unknown")
    type = recognition.types.get(caller.type)
    if type is None:
        raise _refused(claims["iss"], "The token's type of caller is unknown here.", "caller_type_unknown")
    if not type.is_of_users:
        return _standing(caller, type.entity, recognition)
    user = caller.platform_user
    # Where the platform has no users, an account's is left over from another platform.
    if user is not None and recognition.platform.conventions.users is None:
        return replace(caller, record=None)
    if user is None:
        return caller
    profile = _profile(claims["iss"], user)
    return replace(caller, profile=profile.value, known_until=min(caller.known_until, profile.until))


def forget() -> None:
    """Verify every token anew, with the issuers as they are configured now."""
    issuers.forget()
    resolution.forget()
    _of_environment.cache_clear()
    _verified.clear()
    _last_known.clear()
    _profiles.clear()
    _last_active.clear()
    _records.clear()


def _claims(authorization: str, recognition: Recognition, address: str) -> tuple[Claims, float]:
    """Return the claims of a valid token or API key, and the time (Unix seconds) until which it is valid."""
    key = key_in(authorization)
    if key is not None:
        return bearer(*key, address)
    verified = issuers.verify(_bearer_token(authorization), recognition.issuers)
    return verified.claims, verified.good_until


def _resolved(claims: Claims, recognition: Recognition) -> Caller | None:
    now = present.set(recognition)
    try:
        return _resolver(settings.PORTICO["USER_RESOLVER"])(claims, recognition)
    finally:
        present.reset(now)


def _bearer_token(authorization: str) -> str:
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise invalid_token("Write `Authorization: Bearer` and one token.")
    return match.group(1)


def _refused(issuer: str, detail: str, reason: str) -> RefusedCaller:
    refusal = invalid_token(detail, reason)
    refusal.issuer = issuer
    refusal.is_of_known_issuer = True
    return refusal


def _profile(issuer: str, user: Guid) -> CachedValue[PlatformUser]:
    cached = _profiles.get((settings.PORTICO["CRM_URL"], user), lambda: _read_profile(user))
    if cached.value is None:
        raise no_platform_user(issuer, "Your user on the platform no longer exists.", "user_unknown")
    if cached.value.disabled:
        raise no_platform_user(issuer, "Your user on the platform is disabled.", "user_disabled")
    return CachedValue(cached.value, cached.until)


def _read_profile(user: Guid) -> PlatformUser | None:
    try:
        profile = get_platform().user(user)
    except RecordNotFound:
        return None
    except PlatformFailure:
        last = _last_known.get(user)
        if last is None:
            raise
        return last
    _last_known.put(user, profile)
    return profile


def _standing(caller: Caller, entity: str, recognition: Recognition) -> Caller:
    """Return a caller that is not a platform user, with what its record says.

    Raises Problem 403 when the record is gone or inactive. A record of an entity that the platform no longer
    has is left out.
    """
    record, platform = caller.record, recognition.platform
    if record is None or caller.known_until != math.inf:
        return caller  # an issuer's records have been looked at when they were found
    # What the type has no records for, or the platform, is left over from another time.
    if entity not in platform.entities():
        return replace(caller, record=None)
    query = recognition.asks(caller.type, record)
    key = (settings.PORTICO["CRM_URL"], entity, record, repr(query))
    cached = _records.get(key, lambda: _read_record(entity, record, platform, query))
    counts, row = cached.value
    if counts is None:
        detail = "Your record on the platform no longer exists."
        raise no_record(caller.type, caller.issuer, detail, "record_unknown")
    if not counts:
        raise no_record(
            caller.type, caller.issuer, "Your record on the platform is inactive.", "record_inactive"
        )
    read = None if query is None or row is None else (query, row)
    return replace(caller, known_until=cached.until, read=read)


def _read_record(entity: str, record: Guid, platform: Platform, query: Query | None) -> _Record:
    try:
        records = records_in(entity, platform)
        row, by = _read_row(records, record, platform, query)
    except PlatformFailure:
        last = _last_active.get((entity, record))
        if last is None:
            raise
        return _Record(last)
    if row is None:
        return _Record(None)
    counts = records.is_active(row)
    _last_active.put((entity, record), counts)
    return _Record(counts, None if by is None else row)


def _read_row(
    records: CallerRecords, record: Guid, platform: Platform, query: Query | None
) -> tuple[Mapping[str, Value] | None, Query | None]:
    """Read the caller's record. Return the row, and `query` if the row was read by it, else None."""
    if query is not None:
        try:
            return records.read(platform, record, query), query
        except (Throttled, Unavailable, DeadlineExceeded):
            raise
        except PlatformError:
            # What is configured of callers cannot be read, such as a column that the service may not see:
            # only requests that need it fail.
            pass
    return records.read(platform, record), None


@cache
def _of_environment() -> Recognition:
    return Recognition.of(Configuration(Revision(0, "")), get_platform())


@cache
def _resolver(name: str) -> Callable[[Claims, Recognition], Caller | None]:
    """Return the user resolver `name` as a function of claims and recognition, whichever form it has."""
    resolver: Any = RESOLVERS.find(name)
    if len(inspect.signature(resolver).parameters) > 1:
        return resolver  # type: ignore[no-any-return]  # a resolver of the present form

    def resolve(claims: Claims, recognition: Recognition) -> Caller | None:
        identity = resolver(claims)
        if identity is not None and not isinstance(identity, Identity):
            raise TypeError(f"USER_RESOLVER must answer an Identity or None, not {type(identity).__name__}")
        return None if identity is None else _of_identity(claims, identity)

    return resolve


def _of_identity(claims: Claims, identity: Identity) -> Caller:
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(identity.roles),
        type=identity.type,
        record=identity.record,
        claims=identity.claims,
    )
