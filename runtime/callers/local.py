"""The service's own tokens: minted, verified, rotated and revoked with simplejwt.

An access token lives a few minutes and is never looked up; a refresh token is good for one use. Their rows
in the database hold the token's id only, not the token.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import models, transaction
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token

from runtime.callers.api_accounts import ApiAccount
from runtime.callers.caller import Claims
from runtime.callers.claims import check
from runtime.callers.refusals import invalid_token

_ISSUER: str = api_settings.ISSUER
_AUDIENCE: str = api_settings.AUDIENCE
_REFUSED = "The token is not valid here."


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str
    expires_in: int
    """Seconds until the access token expires."""


class LocalIssuer:
    """Verifies access tokens of local accounts."""

    name = _ISSUER
    # Its clock is this service's own.
    leeway = 0

    def verify(self, token: str) -> Claims:
        return _read(AccessToken, token)


def issue(user: User) -> TokenPair:
    """A new pair for `user`, whose password has been checked."""
    return _new_pair(user)


def rotate(refresh: str) -> TokenPair:
    """A new pair for a refresh token, which is used up by this. Raises Problem 401 `invalid_token`."""
    claims = _read(RefreshToken, refresh)
    account = reachable_accounts().filter(user_id=claims["sub"]).select_related("user").first()
    if account is None:
        raise invalid_token("The account of this token is closed.", "account_closed")
    with transaction.atomic():
        outstanding = OutstandingToken.objects.filter(jti=claims["jti"]).first()
        # Of two requests with the same token only one makes the row.
        if outstanding is None or not BlacklistedToken.objects.get_or_create(token=outstanding)[1]:
            raise invalid_token("The refresh token has been used or revoked.", "used_or_revoked")
        return _new_pair(account.user)


def revoke_all(user: User) -> int:
    """Use up every refresh token of `user`; how many were still good."""
    good = [
        BlacklistedToken(token=token)
        for token in OutstandingToken.objects.filter(user=user, blacklistedtoken=None)
    ]
    BlacklistedToken.objects.bulk_create(good, ignore_conflicts=True)
    return len(good)


def reachable_accounts() -> models.QuerySet[ApiAccount]:
    """Accounts that may use the API now: active, and not of the studio."""
    return ApiAccount.objects.filter(user__is_active=True, user__is_staff=False, user__is_superuser=False)


def _new_pair(user: User) -> TokenPair:
    refresh = RefreshToken()
    refresh["sub"] = str(user.pk)
    OutstandingToken.objects.create(
        user=user,
        jti=refresh["jti"],
        token="",
        created_at=refresh.current_time,
        expires_at=refresh.current_time + api_settings.REFRESH_TOKEN_LIFETIME,
    )
    return TokenPair(
        access=str(refresh.access_token),
        refresh=str(refresh),
        expires_in=int(api_settings.ACCESS_TOKEN_LIFETIME.total_seconds()),
    )


def _read(kind: type[Token], text: str) -> Claims:
    try:
        token = kind(text)  # type: ignore[arg-type]  # simplejwt says Token; text is what it reads
    except ExpiredTokenError as error:
        raise invalid_token("The token has expired.", "expired") from error
    except (TokenError, KeyError, TypeError, ValueError, OverflowError) as error:
        # All but the first: claims of a type that simplejwt does not expect.
        raise invalid_token(_REFUSED) from error
    if token.payload.get("aud") != _AUDIENCE:
        # An array is a foreign issuer's way of writing: this service signs one name.
        raise invalid_token(_REFUSED, "audience")
    check(token.payload, audiences=(_AUDIENCE,))
    return token.payload
