"""The issuers whose tokens are accepted: how tokens are verified, and what their claims say of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from django.conf import settings

from designer.definitions import IssuerDefinition
from runtime.callers.caller import Claims
from runtime.callers.issuers import jwks, verification
from runtime.callers.issuers.environment import read_issuers
from runtime.callers.issuers.issuer import Issuer, Issuers

__all__ = ["Issuer", "Issuers", "Verified", "environment_issuers", "forget", "issuers_of", "verify"]


@dataclass(frozen=True, slots=True)
class Verified:
    """The claims of a valid token, and until when (Unix seconds) it is one: its expiry with the leeway."""

    claims: Claims
    good_until: float


def verify(token: str, issuers: Issuers) -> Verified:
    """Verify a token, and return its claims. Raises RefusedCaller 401 `invalid_token`, and 503 while the
    issuer's keys are unknown.
    """
    examined = verification.verify(token, issuers)
    return Verified(examined.claims, examined.claims["exp"] + examined.leeway)


@lru_cache(maxsize=8)
def issuers_of(definitions: tuple[IssuerDefinition, ...]) -> Issuers:
    """Return the issuers of a configuration together with those of the environment. Compiled once."""
    return Issuers(definitions, environment_issuers())


@cache
def environment_issuers() -> Mapping[str, Issuer]:
    """Return the issuers that `ISSUERS` describes, by name."""
    return read_issuers(settings.PORTICO["ISSUERS"])


def forget() -> None:
    """Read `ISSUERS`, and the keys of each issuer, anew."""
    environment_issuers.cache_clear()
    issuers_of.cache_clear()
    jwks.forget()
