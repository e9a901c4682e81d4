"""Families of refresh tokens: what a login leads to, one token after the other.

The row knows only which token is the latest. The tokens themselves are derived from the family and their
number in it, so that two requests that renew at once come to the same successor, in whatever process.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import re
import uuid
from base64 import urlsafe_b64encode
from functools import cache
from typing import NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models
from rest_framework_simplejwt.settings import api_settings

# How long the token before the latest still leads to the latest: two tabs, an answer that was lost.
GRACE = dt.timedelta(seconds=30)

_PURPOSE = b"portico.refresh-tokens"
_JTI = re.compile(r"([0-9a-f]{32})\.(\d{1,9})\.([A-Za-z0-9_-]{22})")


class TokenFamily(models.Model):
    """The refresh tokens of one login of `user`; `number` is the latest, which was given at `issued_at`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField(default=1)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}: {self.id}"


class FamilyToken(NamedTuple):
    """A refresh token: its family, and its number in there."""

    family: uuid.UUID
    number: int


class Ended(Exception):
    """The family is revoked, or does not exist.

    `revoked_now`: it was valid until now, and is revoked because a used token was sent again.
    """

    def __init__(self, *, revoked_now: bool = False) -> None:
        super().__init__()
        self.revoked_now = revoked_now


def begin(user_id: int, *, number: int = 1, id: uuid.UUID | None = None) -> TokenFamily:
    """Create a family. `number` 0 stands for a token that is older than families and has no derived `jti`."""
    now = dt.datetime.now(dt.UTC)
    return TokenFamily.objects.create(
        id=id or uuid.uuid4(), user_id=user_id, number=number, issued_at=now, expires_at=now + _lifetime()
    )


def advance(token: FamilyToken, user_id: int) -> TokenFamily:
    """Return the family with the successor of `token` as its latest token.

    Raises Ended. A token that was used before, longer than GRACE ago, ends the family: it may have been
    stolen.
    """
    rows = TokenFamily.objects.filter(pk=token.family, user_id=user_id, revoked_at=None)
    family = rows.first()
    if family is None:
        raise Ended
    now = dt.datetime.now(dt.UTC)
    if token.number == family.number:
        latest = {"number": token.number + 1, "issued_at": now, "expires_at": now + _lifetime()}
        # Of several requests at once, one finds the number as it was. The others find the successor that it
        # made.
        if rows.filter(number=token.number).update(**latest):
            family.number, family.issued_at = token.number + 1, now
            return family
        family = rows.first()
        if family is None:
            raise Ended
    if token.number == family.number - 1 and now - family.issued_at <= GRACE:
        return family
    raise Ended(revoked_now=revoke(token.family))


def revoke(id: uuid.UUID) -> bool:
    """End a family. Return whether it was valid until now."""
    return bool(TokenFamily.objects.filter(pk=id, revoked_at=None).update(revoked_at=dt.datetime.now(dt.UTC)))


def revoked_family_query(id: uuid.UUID) -> models.QuerySet[TokenFamily]:
    """Return a query for the family that finds it only if it is revoked."""
    return TokenFamily.objects.filter(pk=id, revoked_at__isnull=False)


def revoke_families(user_id: int) -> int:
    """End every family of a user. Return how many were valid until now."""
    now = dt.datetime.now(dt.UTC)
    good = TokenFamily.objects.filter(user_id=user_id, revoked_at=None, expires_at__gt=now)
    return good.update(revoked_at=now)


def jti_of(family: uuid.UUID, number: int) -> str:
    """Return the `jti` of the token with this number in a family."""
    return f"{family.hex}.{number}.{_proof(_keys()[0], family, number)}"


def token_of(jti: str) -> FamilyToken | None:
    """Return the family and number in a token's `jti`; None when no key of ours, present or earlier, has
    made the `jti`.
    """
    match = _JTI.fullmatch(jti)
    if match is None:
        return None
    token = FamilyToken(uuid.UUID(match[1]), int(match[2]))
    proofs = [hmac.compare_digest(_proof(key, *token), match[3]) for key in _keys()]
    return token if any(proofs) else None


def family_founded_by(jti: str) -> uuid.UUID:
    """Return the id of the family that begins with a token whose `jti` is not derived."""
    return uuid.UUID(bytes=hashlib.sha256(_PURPOSE + jti.encode()).digest()[:16])


def _lifetime() -> dt.timedelta:
    lifetime: dt.timedelta = api_settings.REFRESH_TOKEN_LIFETIME
    return lifetime


def _proof(key: bytes, family: uuid.UUID, number: int) -> str:
    """Return what proves that this service made a `jti`: a MAC of family and number, as Base64 without
    padding.
    """
    digest = hmac.digest(key, f"{family.hex}.{number}".encode(), "sha256")
    return urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def _keys() -> tuple[bytes, ...]:
    """Return the keys that derive a `jti`. The first one makes new tokens; all of them are accepted."""
    return _keys_of(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@cache
def _keys_of(*secrets: str) -> tuple[bytes, ...]:
    """Return a key derived from each secret. It is cached, because deriving takes time."""
    return tuple(
        HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
        for secret in secrets
    )
