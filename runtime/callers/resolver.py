"""The user resolver unless `USER_RESOLVER` names another: claims in, roles and platform user out."""

from __future__ import annotations

from crmclient import Guid, parse_guid
from runtime.callers.caller import Claims, Identity
from runtime.callers.claims import claim_at, values_of
from runtime.callers.foreign import ForeignIssuer
from runtime.callers.issuers import foreign_issuer
from runtime.callers.local import reachable_accounts

_LONGEST_ID = 18  # digits; a database's largest integer has 19


def resolve(claims: Claims) -> Identity | None:
    """Who the verified `claims` stand for; None refuses the token.

    A local account's roles come from the account as it is now, not from the token; those of a foreign issuer
    through its map.
    """
    issuer = foreign_issuer(claims["iss"])
    return _of_account(claims["sub"]) if issuer is None else _of_foreigner(claims, issuer)


def _of_account(subject: str) -> Identity | None:
    if not subject.isdecimal() or len(subject) > _LONGEST_ID:
        return None
    rows = list(reachable_accounts().filter(user_id=int(subject)).values_list("platform_user", "roles__name"))
    if not rows:
        return None
    platform_user = rows[0][0]
    return Identity(
        roles=frozenset(role for _, role in rows if role is not None),
        platform_user=None if platform_user is None else str(platform_user),
    )


def _of_foreigner(claims: Claims, issuer: ForeignIssuer) -> Identity:
    given = values_of(claim_at(claims, issuer.roles_claim), issuer.role_map)
    return Identity(
        roles=frozenset(role for value in given for role in issuer.role_map.get(value, ())),
        platform_user=_platform_user(claims, issuer),
    )


def _platform_user(claims: Claims, issuer: ForeignIssuer) -> Guid | None:
    given = claim_at(claims, issuer.platform_user_claim) if issuer.platform_user_claim else None
    if not isinstance(given, str):
        return None
    try:
        return parse_guid(given)
    except ValueError:
        return None
