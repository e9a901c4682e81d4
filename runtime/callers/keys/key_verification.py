"""Verifies keys of every kind. Wrong keys are counted as failed logins are."""

from __future__ import annotations

import datetime as dt
import ipaddress
import logging
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

from django.db import DatabaseError
from django.db.models import Q
from rest_framework_simplejwt.settings import api_settings

from crmclient.durations import duration
from runtime.callers.failed_logins import Wait, claim_try, count_failure, forgive_pair
from runtime.callers.keys.hashed_key import HashedKey, bearer_pattern, is_key, prefix_pattern
from runtime.callers.refusals import RefusedCaller, invalid_token
from runtime.http.addresses import network

logger = logging.getLogger("portico.callers")

OWN_ISSUER: str = api_settings.ISSUER
# How exact *last used* is. Each process verifies a key once a minute; a write each time would be in the way.
_FRESH = dt.timedelta(minutes=5)

K = TypeVar("K", bound=HashedKey)


class WrongKey(Exception):
    """There is no such key, or its secret is another. `wait` is the wait that this has caused; None without
    one.
    """

    def __init__(self, wait: Wait | None) -> None:
        super().__init__()
        self.wait = wait


def key_in(authorization: str, model: type[HashedKey]) -> tuple[str, str] | None:
    """Return the prefix and the secret of the key in an `Authorization` header; None for any other header."""
    match = bearer_pattern(model.BEGINNING).fullmatch(authorization)
    return None if match is None else (match[1], match[2])


def verify(model: type[K], prefix: str, secret: str, address: str) -> K:
    """Return the key with this prefix and secret, which is valid now and may be used from `address`.

    Raises WrongKey, which is counted as a failed login is, and RefusedCaller 401 `invalid_token` for a right
    key that may not be used here or now.
    """
    # A prefix that no key can have is counted with all others of the kind: such texts must not fill the
    # table.
    account = f"key {prefix}" if prefix_pattern(model.BEGINNING).fullmatch(prefix) else "key"
    # Apart from passwords: a machine with an old key must not lock the people of its network out.
    place = f"keys {network(address)}" if address else "keys"
    wait = claim_try(account, place)
    if wait is not None:
        raise WrongKey(wait)
    rows = model._default_manager.filter(prefix=prefix)
    # No key has a prefix of another form: that needs no query.
    key = rows.first() if account != "key" else None
    # `is_key` comes first, because it takes as long without a key. The second part is for the type checker.
    if not is_key(key, prefix, secret) or key is None:
        raise WrongKey(count_failure(account, place, of_account=False))
    if not key.active:
        raise _key_refusal("The API key is not active.", "key_inactive")
    if key.has_expired:
        raise _key_refusal("The API key has expired.", "expired")
    refuse_elsewhere(key.allowed_networks, address)
    _note_use(model, key, account, place)
    return key


def verify_sent(model: type[K], prefix: str, secret: str, address: str) -> K:
    """Verify a key that was sent as a bearer token.

    Raises RefusedCaller 401 `invalid_token`, and 429 `too_many_requests` after too many wrong keys.
    """
    try:
        return verify(model, prefix, secret, address)
    except WrongKey as wrong:
        if wrong.wait is None:
            raise _key_refusal("There is no such API key.", "wrong_key") from None
        raise RefusedCaller(
            429,
            "too_many_requests",
            f"Too many wrong API keys. Try again in {duration(wrong.wait.seconds)}.",
            wrong.wait.reason,
            **{"Retry-After": str(wrong.wait.seconds)},
        ) from None


def refuse_elsewhere(networks: Iterable[str], address: str) -> None:
    """Raise RefusedCaller 401 unless `address` is in one of `networks`, if there are any."""
    networks = tuple(networks)
    if networks and not _is_within(networks, address):
        raise _key_refusal("The API key is not good from your address.", "address")


@lru_cache(maxsize=10_000)
def _is_within(networks: tuple[str, ...], address: str) -> bool:
    """Whether an IP address is in one of the networks. A text that is no address is in none."""
    try:
        # An IPv6 address may name its interface after a percent sign.
        client = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(client in ipaddress.ip_network(subnet) for subnet in networks)


def _note_use(model: type[HashedKey], key: HashedKey, account: str, place: str) -> None:
    """Note the use of a key, and forget the failures from the same place. Do nothing if a use was noted a
    moment ago.
    """
    now = dt.datetime.now(dt.UTC)
    if key.last_used_at is not None and now - key.last_used_at < _FRESH:
        return
    try:
        longer_ago = Q(last_used_at=None) | Q(last_used_at__lt=now - _FRESH)
        model._default_manager.filter(longer_ago, pk=key.pk).update(last_used_at=now)
        forgive_pair(account, place)
    except DatabaseError:
        # A database that takes no writes now is no reason to refuse a read.
        logger.warning("The last use of an API key was not noted.")


def _key_refusal(detail: str, reason: str) -> RefusedCaller:
    """Return the refusal of an API key. Its issuer is this service."""
    return invalid_token(detail, reason).of_known(OWN_ISSUER)
