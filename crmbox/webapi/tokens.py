"""Bearer tokens of the CRM server: signed, short-lived, each for one system user.

The key is derived from SECRET_KEY, so that these tokens are good for nothing else, and no other tokens for
this.
"""

from __future__ import annotations

import time
import uuid
from typing import Final

import jwt
from django.utils.crypto import salted_hmac

from crmclient.values import Guid, parse_guid

_ALGORITHM: Final = "HS256"
_AUDIENCE: Final = "portico-crmserver"
_LONGEST: Final = 8 * 1024
"""Characters of a token."""


class BadToken(Exception):
    """The token was not made by this server, or has expired."""


def mint(user: Guid, lifetime: int) -> str:
    """Return a token of the system user `user` that is valid for `lifetime` seconds."""
    now = int(time.time())
    claims = {"sub": user, "aud": _AUDIENCE, "iat": now, "exp": now + lifetime, "jti": str(uuid.uuid4())}
    return jwt.encode(claims, _key(), algorithm=_ALGORITHM)


def user_of(token: str) -> Guid:
    """Return the id of the system user a token was made for. Raises BadToken."""
    if len(token) > _LONGEST:
        raise BadToken
    try:
        claims = jwt.decode(
            token,
            _key(),
            algorithms=[_ALGORITHM],
            audience=_AUDIENCE,
            options={"require": ["exp", "aud", "sub"]},
        )
        return parse_guid(str(claims["sub"]))
    except (jwt.InvalidTokenError, ValueError):
        raise BadToken from None


def _key() -> bytes:
    return salted_hmac("crmclient.embedded.webapi.tokens", "bearer", algorithm="sha256").digest()
