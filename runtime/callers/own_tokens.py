"""The service's own tokens: minted, verified, renewed and revoked.

An access token lives a few minutes and is never looked up; it names the family of its login, and ends with
it. A refresh token is one of that family, of which the database holds a row (`token_families.py`), and no
token.
"""

from __future__ import annotations

import datetime as dt
import logging
import uuid
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import models, transaction
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import AccessToken, Token

from designer.audit import note_account
from designer.models import AuditEntry
from runtime.callers import token_families
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.caller import Claims
from runtime.callers.claims import check
from runtime.callers.refusals import RefusedCaller, invalid_token
from runtime.callers.token_families import Ended, FamilyToken, TokenFamily

logger = logging.getLogger("portico.logins")

_ISSUER: str = api_settings.ISSUER
_AUDIENCE: str = api_settings.AUDIENCE
_REFUSED = "The token is not valid here."
# Seconds that an access token lives.
_SECONDS = int(api_settings.ACCESS_TOKEN_LIFETIME.total_seconds())
# The claim of an access token that names the family of its login.
_LOGIN = "sid"
_LONGEST_ID = 18  # digits; a database's largest integer has 19


@dataclass(frozen=True, slots=True)
class TokenPair:
    """An access token, and a refresh token.

    `refresh` is None for a client that gets each access token by its key.
    """

    access: str
    refresh: str | None
    expires_in: int
    """Seconds until the access token expires."""


class LocalIssuer:
    """Verifies access tokens of local accounts."""

    name = _ISSUER
    # Its clock is this service's own.
    leeway = 0

    def verify(self, token: str) -> Claims:
        """Return the claims of an access token of this service. Raises RefusedCaller 401."""
        return _read_claims(AccessToken, token)


class _RefreshToken(Token):
    """A refresh token. The class of simplejwt looks each token up in the list of those that were used before
    there were families.
    """

    token_type = "refresh"  # noqa: S105  no secret
    lifetime = api_settings.REFRESH_TOKEN_LIFETIME


def issue(user: User) -> TokenPair:
    """Return a new pair of tokens for `user`, whose password has been checked."""
    return _token_pair(token_families.begin(user.pk))


def rotate(refresh: str, *, address: str = "") -> TokenPair:
    """Return the pair of tokens that follows a refresh token. Raises Problem 401 `invalid_token`.

    Shortly after its first use, a token leads to the same successor again. Later, its whole family is
    revoked, and the audit log notes the `address` that sent it.
    """
    claims = _read_claims(_RefreshToken, refresh)
    account = reachable_accounts().filter(user_id=claims["sub"]).select_related("user").first()
    if account is None:
        raise invalid_token("The account of this token is closed.", "account_closed")
    try:
        family_token = token_families.token_of(claims["jti"]) or _older_token(claims["jti"], account.user_id)
        return _token_pair(token_families.advance(family_token, account.user_id))
    except Ended as ended:
        if ended.revoked_now:
            _tell_of_reuse(account, address)
        raise _used_or_revoked("reused" if ended.revoked_now else "used_or_revoked") from None


def revoke(token: str) -> None:
    """End the family of a refresh token. Do nothing for a token that is not valid, or has expired."""
    try:
        jti: str = _read_claims(_RefreshToken, token)["jti"]
    except RefusedCaller:
        return
    family_token = token_families.token_of(jti)
    if family_token is not None:
        token_families.revoke(family_token.family)
        return
    # A token that was issued before there were families; its first use may have founded one.
    for outstanding in OutstandingToken.objects.filter(jti=jti):
        BlacklistedToken.objects.get_or_create(token=outstanding)
    token_families.revoke(token_families.family_founded_by(jti))


def is_access_token(token: str) -> bool:
    """Whether `token` is an access token of this service that is still good."""
    try:
        _read_claims(AccessToken, token)
    except RefusedCaller:
        return False
    return True


def revoke_all(user: User) -> int:
    """End every family of refresh tokens of `user`. Return how many were still valid."""
    # Unused tokens that were issued before there were families.
    older_tokens = [
        BlacklistedToken(token=token)
        for token in OutstandingToken.objects.filter(
            user=user, blacklistedtoken=None, expires_at__gt=dt.datetime.now(dt.UTC)
        )
    ]
    BlacklistedToken.objects.bulk_create(older_tokens, ignore_conflicts=True)
    return len(older_tokens) + token_families.revoke_families(user.pk)


def reachable_accounts() -> models.QuerySet[ApiAccount]:
    """Return the accounts that may use the API now: active ones that are not accounts of the studio."""
    return ApiAccount.objects.filter(user__is_active=True, user__is_staff=False, user__is_superuser=False)


def accounts_of(claims: Claims) -> models.QuerySet[ApiAccount]:
    """Return the account of an access token; nothing when the account is closed or the token's login has
    ended.
    """
    subject, login = claims["sub"], claims.get(_LOGIN)
    if not subject.isdecimal() or len(subject) > _LONGEST_ID:
        return ApiAccount.objects.none()
    accounts = reachable_accounts().filter(user_id=int(subject))
    if login is None:
        # The token of an API key, or one from a release that did not name the login.
        return accounts
    return accounts.exclude(models.Exists(token_families.revoked_family_query(uuid.UUID(login))))


def _token_pair(family: TokenFamily) -> TokenPair:
    """Return the tokens of a family at its present number."""
    refresh = _RefreshToken()
    # Another process that makes this token, too, must make the same bytes.
    refresh.set_iat(at_time=family.issued_at)
    refresh.set_exp(from_time=family.issued_at)
    refresh["jti"] = token_families.jti_of(family.id, family.number)
    refresh["sub"] = str(family.user_id)
    access = _new_access_token(str(family.user_id))
    access[_LOGIN] = str(family.id)
    return TokenPair(str(access), str(refresh), _SECONDS)


def issue_access_token(subject: str) -> TokenPair:
    """Return an access token for `subject` without a refresh token. Only closing its account or API key ends
    it early.
    """
    return TokenPair(str(_new_access_token(subject)), None, _SECONDS)


def _new_access_token(subject: str) -> AccessToken:
    """Return a new access token for `subject`."""
    access = AccessToken()
    access["sub"] = subject
    return access


def _older_token(jti: str, user_id: int) -> FamilyToken:
    """Return a refresh token that was issued before there were families.

    Its first use founds the family. Raises Ended when the token was used before that.
    """
    family_token = FamilyToken(token_families.family_founded_by(jti), 0)
    if TokenFamily.objects.filter(pk=family_token.family).exists():
        return family_token
    with transaction.atomic():
        tokens = OutstandingToken.objects.filter(jti=jti, user_id=user_id)
        outstanding = tokens.select_for_update().first()
        # Another request may have been first, while this one waited for its turn.
        if not TokenFamily.objects.filter(pk=family_token.family).exists():
            if outstanding is None or not BlacklistedToken.objects.get_or_create(token=outstanding)[1]:
                raise Ended
            token_families.begin(user_id, number=family_token.number, id=family_token.family)
    return family_token


def _tell_of_reuse(account: ApiAccount, address: str) -> None:
    """Note in the log and in the audit log that a used refresh token was sent again, from `address`."""
    logger.warning(
        "A used refresh token was sent again, and the tokens of its login are revoked.",
        extra={"account": account.user_id},
    )
    note_account(
        "",
        AuditEntry.Action.REVOKE,
        f"API account: {account}",
        "A used refresh token was sent again: the tokens of its login are revoked.",
        address=address,
    )


def _used_or_revoked(reason: str) -> RefusedCaller:
    """Return the refusal of a refresh token that is not good any more. `reason` is for the log."""
    return invalid_token("The refresh token has been used or revoked.", reason)


def _read_claims(token_class: type[Token], text: str) -> Claims:
    """Return the claims of a token of this class that the service has signed. Raises RefusedCaller 401."""
    try:
        token = token_class(text)  # type: ignore[arg-type]  # simplejwt says Token; text is what it reads
    except ExpiredTokenError as error:
        raise invalid_token("The token has expired.", "expired") from error
    except (TokenError, KeyError, TypeError, ValueError, OverflowError) as error:
        # All of these but TokenError: claims of a type that simplejwt does not expect.
        raise invalid_token(_REFUSED) from error
    if token.payload.get("aud") != _AUDIENCE:
        # Tokens of this service have one text here. RFC 7519 also allows an array, which other issuers use.
        raise invalid_token(_REFUSED, "audience")
    check(token.payload, audiences=(_AUDIENCE,))
    return token.payload
