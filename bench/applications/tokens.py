"""Checks a token by hand, as the applications without simplejwt do."""

from __future__ import annotations

from dataclasses import dataclass

import jwt

from bench.world import AUDIENCE, ISSUER, SIGNING_KEY

_REQUIRED = {"require": ["exp", "iss", "aud", "sub"]}


class InvalidToken(Exception):
    """The header holds no access token of ours that is valid now."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The account's id, and the second at which the token ends."""

    account: int
    ends: float


def verify(header: str) -> Verified:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidToken
    try:
        claims = jwt.decode(
            token, SIGNING_KEY, algorithms=["HS256"], issuer=ISSUER, audience=AUDIENCE, options=_REQUIRED
        )
        verified = Verified(int(claims["sub"]), claims["exp"])
    except (jwt.InvalidTokenError, ValueError) as error:
        raise InvalidToken from error
    if claims.get("token_type") != "access":
        raise InvalidToken
    return verified
