"""Whose tokens are taken, and how each is verified.

The issuer is chosen by the token's unverified `iss`; from there on only that issuer's own algorithms,
audience and keys count, and nothing the token says about them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

import jwt
from django.conf import settings

from runtime.callers.caller import Claims
from runtime.callers.foreign import ForeignIssuer, read_issuers
from runtime.callers.local import LocalIssuer
from runtime.callers.refusals import invalid_token

# Headers by which a token would bring its own key, or the address of one.
_OWN_KEYS = ("jku", "jwk", "x5u")


class Issuer(Protocol):
    """`verify` gives the claims of a token that is this issuer's, or raises Problem 401 `invalid_token`."""

    def verify(self, token: str) -> Claims: ...


def verify(token: str) -> Claims:
    """The claims of a valid token. Raises Problem 401 `invalid_token`, 503 while the keys are unknown."""
    try:
        unverified = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise invalid_token("This is not a JSON Web Token.") from error
    if any(name in unverified["header"] for name in _OWN_KEYS):
        raise invalid_token("A token may not bring its own key.")
    name = unverified["payload"].get("iss")
    issuer = _known().get(name) if isinstance(name, str) else None
    if issuer is None:
        raise invalid_token("The token's issuer (`iss`) is not known here.")
    return issuer.verify(token)


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
