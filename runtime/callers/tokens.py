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
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, Protocol

from django.conf import settings

from crmclient.extensions import Choice
from designer.configuration import Configuration, Revision
from designer.platform import get_platform
from runtime.callers import active_records, issuers
from runtime.callers.caller import Caller, Claims, Identity
from runtime.callers.issuers import resolution
from runtime.callers.keys.key_callers import caller_of, claims_of_sent_key, is_of_a_key, key_in
from runtime.callers.keys.key_verification import refuse_elsewhere
from runtime.callers.recent_cache import RecentCache
from runtime.callers.recognition import Recognition, present
from runtime.callers.refusals import RefusedCaller, invalid_token

# Characters of an `Authorization` header.
LONGEST_HEADER = 8 * 1024

# RFC 7235: the scheme is written in any case. A comma, where two headers were joined, is in no token.
_BEARER = re.compile(r"bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)", re.IGNORECASE)


class _VerifiedToken(NamedTuple):
    """The caller of a token, and the time (Unix seconds) until which the token is valid."""

    caller: Caller
    good_until: float


# By the digest of the `Authorization` header, and by the recognition: an edit of the configuration makes
# another.
_verified: RecentCache[tuple[bytes, Recognition], _VerifiedToken] = RecentCache(size=10_000)


class UserResolver(Protocol):
    """The function that `USER_RESOLVER` names. If it returns None, the token is refused with 401.

    One of the older form takes the claims alone, and returns an Identity.
    """

    def __call__(self, claims: Claims, context: Recognition, /) -> Caller | None: ...


RESOLVERS: Choice[UserResolver] = Choice(
    "portico.resolvers", "a function that turns a token's claims into a caller"
)
RESOLVERS.register("standard", "runtime.callers.resolver:resolve")


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
    recognition = recognition or _recognition_of_environment()
    key = hashlib.sha256(authorization.encode("utf-8", "surrogatepass")).digest(), recognition
    verified = _verified.get(key)
    if verified is not None and time.monotonic() < verified.caller.known_until:
        caller, good_until = verified
        if time.time() >= good_until:
            raise _token_refusal(caller.issuer, "The token has expired.", "expired")
    else:
        claims, good_until = _verified_claims(authorization, recognition, address)
        caller = identify(claims, recognition)
        _verified.put(key, _VerifiedToken(caller, good_until))
    if caller.networks:
        refuse_elsewhere(caller.networks, address)
    return caller


def identify(claims: Claims, recognition: Recognition | None = None) -> Caller:
    """Return the caller of verified `claims`: for an API key as the key says, else by the user resolver.

    Raises Problem 401 for an unknown caller, and 403 for a caller whose record is gone or inactive.
    """
    recognition = recognition or _recognition_of_environment()
    caller = caller_of(claims) if is_of_a_key(claims) else _caller_by_resolver(claims, recognition)
    if caller is None:
        raise _token_refusal(
            claims["iss"], "The token's account is closed or unknown here.", "account_unknown"
        )
    type = recognition.types.get(caller.type)
    if type is None:
        raise _token_refusal(
            claims["iss"], "The token's type of caller is unknown here.", "caller_type_unknown"
        )
    if not type.is_of_users:
        return active_records.with_active_record(caller, type.entity, recognition)
    user = caller.platform_user
    # A platform without users cannot have this one: it is left over from another platform.
    if user is not None and recognition.platform.conventions.users is None:
        return replace(caller, record=None)
    if user is None:
        return caller
    profile = active_records.profile_of(claims["iss"], user)
    return replace(caller, profile=profile.value, known_until=min(caller.known_until, profile.until))


def forget() -> None:
    """Verify every token anew, with the issuers as they are configured now."""
    issuers.forget()
    resolution.forget()
    active_records.forget()
    _recognition_of_environment.cache_clear()
    _verified.clear()


def _verified_claims(authorization: str, recognition: Recognition, address: str) -> tuple[Claims, float]:
    """Return the claims of a valid token or API key, and the time (Unix seconds) until which it is valid."""
    # Prefix and secret of an API key.
    key = key_in(authorization)
    if key is not None:
        return claims_of_sent_key(*key, address)
    verified = issuers.verify(_bearer_token(authorization), recognition.issuers)
    return verified.claims, verified.good_until


def _caller_by_resolver(claims: Claims, recognition: Recognition) -> Caller | None:
    """Return the caller whom the user resolver finds for `claims`; None refuses the token."""
    # Resolvers of the older form do not get the recognition as an argument.
    reset_token = present.set(recognition)
    try:
        return _resolver(settings.PORTICO["USER_RESOLVER"])(claims, recognition)
    finally:
        present.reset(reset_token)


def _bearer_token(authorization: str) -> str:
    """Return the token of an `Authorization` header. Raises Problem 401 for any other header."""
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise invalid_token("Write `Authorization: Bearer` and one token.")
    return match.group(1)


def _token_refusal(issuer: str, detail: str, reason: str) -> RefusedCaller:
    """Return the refusal of a token whose issuer is known here."""
    return invalid_token(detail, reason).of_known(issuer)


@cache
def _recognition_of_environment() -> Recognition:
    """Return the recognition without a configuration: only the issuers of the environment are known."""
    return Recognition.of(Configuration(Revision(0, "")), get_platform())


@cache
def _resolver(name: str) -> Callable[[Claims, Recognition], Caller | None]:
    """Return the user resolver `name` as a function of claims and recognition, whichever form it has."""
    resolver: Any = RESOLVERS.find(name)
    takes_recognition = _takes_recognition(resolver)

    def resolve(claims: Claims, recognition: Recognition) -> Caller | None:
        caller = resolver(claims, recognition) if takes_recognition else resolver(claims)
        if isinstance(caller, Identity):
            return _caller_with_identity(claims, caller)
        if caller is not None and not isinstance(caller, Caller):
            raise TypeError(
                f"USER_RESOLVER must return a Caller, an Identity or None, not {type(caller).__name__}"
            )
        return caller

    return resolve


def _takes_recognition(resolver: Callable[..., Any]) -> bool:
    """Whether a resolver is of the present form: `resolve(claims, context)`.

    One of the older form takes the claims, and may have more parameters for its own use: these are not given
    by position, or have defaults, and none is called `context`.
    """
    by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    parameters = inspect.signature(resolver).parameters.values()
    _claims, *others = (parameter for parameter in parameters if parameter.kind in by_position)
    return bool(others) and (others[0].default is inspect.Parameter.empty or others[0].name == "context")


def _caller_with_identity(claims: Claims, identity: Identity) -> Caller:
    """Return the caller that a resolver of the older form describes."""
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(identity.roles),
        type=identity.type,
        record=identity.record,
        claims=identity.claims,
    )
