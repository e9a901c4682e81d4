"""From an API key to the caller: as a bearer token, or through the access token that it was exchanged for."""

from __future__ import annotations

import datetime as dt
import ipaddress
import logging
import math
import re
from collections.abc import Iterable
from functools import lru_cache

from django.db import DatabaseError
from django.db.models import Q
from rest_framework_simplejwt.settings import api_settings

from runtime.callers.caller import Caller, Claims
from runtime.callers.failed_logins import Wait, count_failure, forgive_pair, wait_of
from runtime.callers.keys.api_key import ApiKey, is_key
from runtime.callers.refusals import RefusedCaller, invalid_token
from runtime.http.addresses import network

logger = logging.getLogger("portico.callers")

_ISSUER: str = api_settings.ISSUER
_SCHEME = re.compile(r"(?i:bearer) +(portico[a-z2-7]{16})_([0-9a-f]{64})")
_PREFIX = re.compile(r"portico[a-z2-7]{16}")
_SUBJECT = "key:"
# How exact *last used* is. Each process verifies a key once a minute; a write each time would be in the way.
_FRESH = dt.timedelta(minutes=5)


class WrongKey(Exception):
    """No such key, or another secret. `wait`: what it has led to, if it has."""

    def __init__(self, wait: Wait | None) -> None:
        super().__init__()
        self.wait = wait


def key_in(authorization: str) -> tuple[str, str] | None:
    """Prefix and secret of the API key in an `Authorization` header; None where there is another token."""
    match = _SCHEME.fullmatch(authorization)
    return None if match is None else (match[1], match[2])


def verify(prefix: str, secret: str, address: str) -> ApiKey:
    """The key, which is good and may be sent from `address`.

    Raises WrongKey, which is counted as a failed login is, and RefusedCaller 401 `invalid_token` for a key
    that is right but not good here, or now.
    """
    account = f"key {prefix}" if _PREFIX.fullmatch(prefix) else "key"
    # Apart from passwords: a machine with an old key must not lock the people of its network out.
    place = f"keys {network(address)}" if address else "keys"
    wait = wait_of(account, place)
    if wait is not None:
        raise WrongKey(wait)
    found = ApiKey.objects.filter(prefix=prefix).first() if account != "key" else None
    if not is_key(found, prefix, secret) or found is None:
        raise WrongKey(count_failure(account, place, of_account=False))
    if not found.active:
        raise _refused("The API key is not active.", "key_inactive")
    if found.has_expired:
        raise _refused("The API key has expired.", "expired")
    refuse_elsewhere(found.allowed_networks, address)
    _note_use(found, account, place)
    return found


def bearer(prefix: str, secret: str, address: str) -> tuple[Claims, float]:
    """The claims that a key stands for, as a token's, and until when it is good (Unix seconds).

    Raises RefusedCaller 401 `invalid_token`, 429 `too_many_requests`.
    """
    try:
        key = verify(prefix, secret, address)
    except WrongKey as wrong:
        if wrong.wait is None:
            raise _refused("There is no such API key.", "wrong_key") from None
        raise RefusedCaller(
            429,
            "too_many_requests",
            f"Too many wrong API keys. Try again in {wrong.wait.seconds} s.",
            wrong.wait.reason,
            **{"Retry-After": str(wrong.wait.seconds)},
        ) from None
    good_until = math.inf if key.expires_at is None else key.expires_at.timestamp()
    return {"iss": _ISSUER, "sub": subject_of(key)}, good_until


def subject_of(key: ApiKey) -> str:
    """The `sub` of the tokens that a key is exchanged for."""
    return f"{_SUBJECT}{key.prefix}"


def is_of_a_key(claims: Claims) -> bool:
    return bool(claims["iss"] == _ISSUER and claims["sub"].startswith(_SUBJECT))


def caller_of(claims: Claims) -> Caller | None:
    """Whom the key of verified `claims` stands for now; None where it is good no longer."""
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


def refuse_elsewhere(networks: Iterable[str], address: str) -> None:
    """Raises RefusedCaller 401 unless `address` is in one of `networks`, where there are any."""
    networks = tuple(networks)
    if networks and not _is_within(networks, address):
        raise _refused("The API key is not good from your address.", "address")


@lru_cache(maxsize=10_000)
def _is_within(networks: tuple[str, ...], address: str) -> bool:
    try:
        here = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(here in ipaddress.ip_network(known) for known in networks)


def _note_use(key: ApiKey, account: str, place: str) -> None:
    """Also a success: the failures of the key from there are over."""
    now = dt.datetime.now(dt.UTC)
    if key.last_used_at is not None and now - key.last_used_at < _FRESH:
        return
    try:
        longer_ago = Q(last_used_at=None) | Q(last_used_at__lt=now - _FRESH)
        ApiKey.objects.filter(longer_ago, pk=key.pk).update(last_used_at=now)
        forgive_pair(account, place)
    except DatabaseError:
        # A database that takes no writes now is no reason to refuse a read.
        logger.warning("The last use of an API key was not noted.")


def _refused(detail: str, reason: str) -> RefusedCaller:
    refusal = invalid_token(detail, reason)
    refusal.issuer = _ISSUER
    return refusal
