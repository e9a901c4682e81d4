"""The user resolver unless `USER_RESOLVER` names another: a local account's caller, or an issuer's."""

from __future__ import annotations

from runtime.callers.caller import Caller, Claims
from runtime.callers.issuers.resolution import resolve as resolve_by_issuer
from runtime.callers.own_tokens import LocalIssuer, accounts_of
from runtime.callers.recognition import Recognition, present


def resolve(claims: Claims, context: Recognition | None = None) -> Caller | None:
    """Return the caller that verified `claims` stand for; None refuses the token. Raises RefusedCaller.

    The roles of a local account are those that the account has now, not those in the token. The rules of an
    issuer give the roles of its callers. `context` is by default that of the present request.
    """
    context = context or present.get()
    if claims["iss"] == LocalIssuer.name:
        return _caller_of_account(claims)
    issuer = context.issuers.get(claims["iss"])
    return None if issuer is None else resolve_by_issuer(issuer, claims, context.types, context.platform)


def _caller_of_account(claims: Claims) -> Caller | None:
    """Return the caller of an API account; None for an unknown or closed one."""
    rows = list(accounts_of(claims).values_list("caller_type_id", "record", "rate", "roles__name"))
    if not rows:
        return None
    # One row for each role of the account, or a single row without a role: the rest is the same in all of
    # them.
    type, record, rate, _role = rows[0]
    return Caller(
        issuer=claims["iss"],
        subject=claims["sub"],
        roles=frozenset(role for *_, role in rows if role is not None),
        type=str(type),
        record=None if record is None else str(record),
        rate=rate,
    )
