"""Who may be given the same answer of an endpoint, as its definition says.

A cached answer is given to nobody whose own call could have been answered otherwise. So whatever of the
caller an endpoint reads keeps answers apart, and what this module does not understand keeps every caller
apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crmclient.query.designed import (
    ClaimValue,
    DesignedCondition,
    DesignedQuery,
    DesignedValue,
    FetchValue,
    Literal,
    Parameter,
    RecordValue,
    UserOperator,
    UserValue,
)
from designer.configuration import Endpoint
from designer.endpoint_facts.applied_row_rules import applied_entries
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.names import RESERVED_PROPERTIES

_ROLES = frozenset({"roles"})
# Values that are the same for every caller, if the records that they come from are.
_SAME_FOR_ALL = (Literal, Parameter, FetchValue, RecordValue)


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why answers depend on the caller: `place` reads `what` of the caller.

    `place` is a field of the definition or of the exposed entity. `is_property`: `what` is looked up on the
    platform.
    """

    place: str
    what: str
    is_property: bool = False


@dataclass(frozen=True, slots=True)
class Sharing:
    """What of a caller the answers of an endpoint depend on.

    `callers` are the reasons why each caller has answers of its own; without any, callers share answers.
    `properties`: user properties are read. `roles` are the roles that make a difference; None: all roles of a
    caller.
    """

    callers: tuple[Cause, ...] = ()
    properties: bool = False
    roles: frozenset[str] | None = frozenset()

    @property
    def is_by_caller(self) -> bool:
        """Whether each caller has answers of its own."""
        return bool(self.callers)

    @property
    def is_by_roles(self) -> bool:
        """Whether callers with the same roles share answers, and callers with other roles have others."""
        return not self.callers and (self.roles is None or bool(self.roles))


def sharing(endpoint: Endpoint) -> Sharing:
    """Return what of its callers the answers of the endpoint depend on."""
    definition = endpoint.definition
    callers: list[Cause] = []
    roles: set[str] = set()
    every_role = False
    for place, _entity, entry in applied_entries(endpoint):
        roles |= set(entry.roles)
        # Without entities of aliases: which entity a condition is about makes no difference here.
        for _, condition in conditions_of_filter(entry.filter, None, {}):
            callers += _causes_in_condition(place, condition)
    query = definition.settings.designed_query
    if query is not None:
        callers += _causes_in_query("settings.query", query)
    for fetcher in definition.fetchers:
        if fetcher.query is not None:
            callers += _causes_in_query(f"fetchers.{fetcher.name}.query", fetcher.query)
    for place, text in _expressions(endpoint):
        fields_read = _caller_fields_read(text)
        # An expression may treat every role in its own way. It does not name those that make a difference.
        if fields_read == _ROLES:
            every_role = True
        elif fields_read is None or fields_read:
            what = ", ".join(sorted(f"user.{name}" for name in fields_read or ("…",)))
            is_property = fields_read is None or not fields_read <= RESERVED_PROPERTIES
            callers.append(Cause(place, what, is_property))
    properties = any(cause.is_property for cause in callers)
    return Sharing(tuple(dict.fromkeys(callers)), properties, None if every_role else frozenset(roles))


def _causes_in_query(place: str, query: DesignedQuery) -> Iterator[Cause]:
    """Yield the reasons why a query at `place` finds other rows for another caller."""
    for _, condition in conditions(query):
        yield from _causes_in_condition(place, condition)


def _causes_in_condition(place: str, condition: DesignedCondition) -> Iterator[Cause]:
    """Yield the reasons why a condition finds other records for another caller."""
    if isinstance(condition.operator, UserOperator):
        yield Cause(place, condition.operator.value)
    for value in condition.values:
        if not isinstance(value, _SAME_FOR_ALL):
            yield _cause_of_value(place, value)


def _cause_of_value(place: str, value: DesignedValue) -> Cause:
    """Return the reason for a value that differs by caller. An unknown kind of value counts as a property."""
    match value:
        case UserValue(name):
            return Cause(place, f"@user.{name}", name not in RESERVED_PROPERTIES)
        case ClaimValue(path):
            return Cause(place, f"@user.claims.{path}")
        case _:
            return Cause(place, type(value).__name__, is_property=True)


def _expressions(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """Yield the expressions of pre-conditions and columns, each after its place.

    Those of bindings are left out: kinds whose answers can be shared have no bindings.
    """
    definition = endpoint.definition
    for number, condition in enumerate(definition.preconditions):
        yield f"preconditions.{number}.expression", condition.expression
    for column in definition.columns:
        if column.expression:
            yield f"columns.{column.shown_as}.expression", column.expression


def _caller_fields_read(text: str) -> frozenset[str] | None:
    """Return the fields of the caller that an expression reads; None: it may be any of them."""
    try:
        return Expression(text, ENDPOINT_NAMES).members("user")
    except ExpressionError:
        # An endpoint with such an expression is not served, so nothing needs to be shared.
        return None
