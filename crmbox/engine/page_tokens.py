"""Page tokens: where the last page ended, signed and bound to the query's shape.

A position is a list of JSON values, which the plan of the query understands: the values that the last row is
sorted by, or the number of groups so far and the key of the last one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, Signer

from crmclient.errors import InvalidQuery

_SALT = "crmclient.embedded.cursor"


def seal(digest: str, position: list[Any]) -> str:
    """Return the signed token of a position in the results of the query whose shape has `digest`."""
    return _signer().sign_object([digest, position])


def unseal(token: str, digest: str) -> list[Any]:
    """Return the position in a token.

    Raises InvalidQuery for a token of another query, or with a wrong signature.
    """
    try:
        signed_digest, position = _signer().unsign_object(token)
    except (BadSignature, ValueError, TypeError):
        raise InvalidQuery("The page token is not valid.") from None
    if signed_digest != digest or not isinstance(position, list):
        raise InvalidQuery("The page token belongs to another query.")
    return position


def _signer() -> Signer:
    return _signer_of(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@cache
def _signer_of(secret: str, *fallbacks: str) -> Signer:
    return Signer(key=secret, fallback_keys=list(fallbacks), salt=_SALT)
