"""Whose tokens are taken, and how each is verified.

The issuer is chosen by the token's unverified `iss`; from there on only that issuer's own algorithms,
audience and keys count, and nothing the token says about them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import jwt
from django.conf import settings

from runtime.callers.caller import Claims
from runtime.callers.foreign import ForeignIssuer, read_issuers
from runtime.callers.local import LocalIssuer
from runtime.callers.refusals import RefusedCaller, invalid_token

# Headers by which a token would bring its own key, or the address of one.
_OWN_KEYS = ("jku", "jwk", "x5u")

# What the log repeats of a token that nobody vouches for: an address without a query, a key's short name.
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:/_{}~-]{1,200}")
_KEY_ID = re.compile(r"[A-Za-z0-9._=+/-]{1,100}")


@dataclass(frozen=True, slots=True)
class Verified:
    """The claims of a valid token, and until when (Unix seconds) it is one: its expiry with the leeway."""

    claims: Claims
    good_until: float


class Issuer(Protocol):
    """`verify` gives the claims of a token that is this issuer's, or raises Problem 401 `invalid_token`.
    `leeway` is by how many seconds its clock may differ.
    """

    @property
    def leeway(self) -> int: ...

    def verify(self, token: str) -> Claims: ...


def verify(token: str) -> Verified:
    """A valid token. Raises RefusedCaller 401 `invalid_token`, 503 while the keys are unknown."""
    try:
        unverified = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise invalid_token("This is not a JSON Web Token.") from error
    if any(name in unverified["header"] for name in _OWN_KEYS):
        raise invalid_token("A token may not bring its own key.", "own_key")
    name = unverified["payload"].get("iss")
    try:
        issuer = _known().get(name) if isinstance(name, str) else None
        if issuer is None:
            raise invalid_token("The token's issuer (`iss`) is not known here.", "unknown_issuer")
        claims = issuer.verify(token)
    except RefusedCaller as refusal:
        refusal.issuer = name if issuer is not None else _shown(name, _ADDRESS)
        refusal.key_id = _shown(unverified["header"].get("kid"), _KEY_ID)
        raise
    return Verified(claims, claims["exp"] + issuer.leeway)


def _shown(value: object, pattern: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and pattern.fullmatch(value) else ""


def forget() -> None:
    """Read `ISSUERS`, and the keys of each, anew."""
    _foreign.cache_clear()
    _known.cache_clear()


def foreign_issuer(name: str) -> ForeignIssuer | None:
    """The issuer that `ISSUERS` configures under `name`; None for the service's own."""
    return _foreign().get(name)


@cache
def _foreign() -> Mapping[str, ForeignIssuer]:
    return read_issuers(settings.PORTICO["ISSUERS"])


@cache
def _known() -> Mapping[str, Issuer]:
    return {**_foreign(), LocalIssuer.name: LocalIssuer()}
