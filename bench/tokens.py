"""Tokens for the load and for the conformance requests."""

from __future__ import annotations

import time
import uuid
from typing import Any

import jwt

from bench.world import AUDIENCE, ISSUER, SIGNING_KEY

LIFETIME = 300


def sign(claims: dict[str, Any], key: str = SIGNING_KEY) -> str:
    return jwt.encode(claims, key, algorithm="HS256")


def mint(account: int, *, lifetime: int = LIFETIME, **claims: str) -> str:
    """An access token as simplejwt makes them, good for `lifetime` seconds, with more `claims`."""
    now = int(time.time())
    return sign(
        {
            "token_type": "access",
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": str(account),
            "iat": now,
            "exp": now + lifetime,
            "jti": uuid.uuid4().hex,
            **claims,
        }
    )


def altered(token: str, key: str = SIGNING_KEY, **changes: Any) -> str:
    """`token` with other claims, signed again; a claim of None is left out."""
    claims = {**jwt.decode(token, options={"verify_signature": False}), **changes}
    return sign({name: value for name, value in claims.items() if value is not None}, key)
