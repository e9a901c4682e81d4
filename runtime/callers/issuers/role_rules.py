"""Grants roles by claims, rule by rule, so that *Explain a token* can say which rule gave what."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crmclient.sentences import for_log
from designer.calendar import present
from designer.definitions import RoleRuleDefinition
from designer.expressions import ExpressionError
from runtime.callers.caller import Claims
from runtime.callers.issuers.claim_paths import claim_at, values_of
from runtime.callers.issuers.issuer import Issuer

logger = logging.getLogger("portico.issuers")

_OVERAGE, _GROUPS = "_claim_names", "groups"


@dataclass(frozen=True, slots=True)
class Granted:
    """The roles that one source of an issuer gave.

    `place` is the field of the issuer, `source` the claim or expression in it, `found` the values that were
    read there. `problem` says why there are no roles; empty without a problem.
    """

    place: str
    source: str
    found: tuple[str, ...]
    roles: frozenset[str]
    problem: str = ""


def grants_of(issuer: Issuer, claims: Claims, record: Mapping[str, Any] | None) -> Iterator[Granted]:
    """Yield what each source of roles grants, in order: fixed roles, role rules, the expression.

    `record` has the attributes that the expression reads; None without a record.
    """
    definition = issuer.definition
    if definition.roles:
        yield Granted("roles", "", (), frozenset(definition.roles))
    for position, rule in enumerate(definition.role_rules):
        yield _grant_of_rule(f"role_rules.{position}", rule, claims)
    if definition.roles_expression.strip():
        yield _grant_of_expression(issuer, claims, record)


def has_left_out_groups(claims: Claims) -> bool:
    """Whether Entra ID left the caller's groups out, because there are too many for a token."""
    overage = claims.get(_OVERAGE)
    is_overage = isinstance(overage, Mapping) and _GROUPS in overage
    return is_overage or claims.get("hasgroups") in (True, "true")


def _grant_of_rule(place: str, rule: RoleRuleDefinition, claims: Claims) -> Granted:
    """Return what a role rule grants: the roles that its table has for the values of its claim or, with
    `as_named`, these values themselves.
    """
    table: dict[str, set[str]] = {}
    for grant in rule.grants:
        table.setdefault(grant.value, set()).add(grant.role)
    values = values_of(claim_at(claims, rule.claim), rule.shape, table)
    roles = values if rule.as_named else (role for value in values for role in table.get(value, ()))
    return Granted(place, rule.claim, values, frozenset(roles))


def _grant_of_expression(issuer: Issuer, claims: Claims, record: Mapping[str, Any] | None) -> Granted:
    """Return what the roles expression grants; nothing, with the problem, when it has no value."""
    text, expression = issuer.definition.roles_expression, issuer.roles_expression
    if expression is None:
        return Granted(
            place="roles_expression",
            source=text,
            found=(),
            roles=frozenset(),
            problem="the expression does not compile",
        )
    try:
        value = expression.evaluate({"claims": claims, "record": record}, present())
    except ExpressionError as error:
        logger.warning("the roles expression of an issuer has no value: %s", for_log(error))
        return Granted(place="roles_expression", source=text, found=(), roles=frozenset(), problem=str(error))
    roles = values_of(value, "array") or values_of(value, "text")
    return Granted("roles_expression", text, roles, frozenset(roles))
