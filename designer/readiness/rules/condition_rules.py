"""Whether what a condition compares with can be what its attribute holds: of user properties and fetchers.

What callers send is judged with the inputs.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Any

from crmclient import Reference
from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedCondition, FetchValue, UserValue
from crmclient.query.resolving import can_compare
from crmclient.query.shape import LISTS
from designer.calendar import calendar
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.readiness.registry import Found, blocking
from designer.readiness.rules.query_rules import QUERY
from designer.readiness.rules.step_rules import Origin, applied_rules
from designer.readiness.rules.value_rules import PossibleValues, given_by_fetcher, given_by_user
from designer.readiness.samples import UNKNOWN
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

_ID = "00000000-0000-0000-0000-000000000001"
# Samples for a text of unknown content: it may be a number, a truth value, a date or an id.
_TEXTS = ("1", "true", "2026-01-31", "2026-01-31T12:00:00Z", _ID)


_ROLES = UserValue("roles")


class _Name(str):
    """A text that is a value itself, not a sample of one."""


@blocking("condition-value-types", row_rules=True)
def values_can_be_compared(subject: EndpointSubject) -> Found:
    """Find conditions on a value that the attribute can never be compared with."""
    # Several entries of a row rule may hold the same condition. It is judged once.
    for origin, entity, condition in dict.fromkeys(_conditions(subject)):
        attribute = subject.metadata.attributes(entity).get(condition.attribute) if entity else None
        if attribute is None:
            continue
        for value in condition.values:
            if value == _ROLES and condition.operator not in LISTS:
                yield origin.finding(
                    _(
                        "@user.roles is a list, which “%(attribute)s” %(operator)s cannot be compared with. "
                        "Use in or not-in.",
                        attribute=condition.attribute,
                        operator=condition.operator.value,
                    )
                )
                continue
            possible = _possible_values_of(subject, value)
            if possible is not None and not _may_compare(condition, attribute, possible):
                yield origin.finding(
                    _(
                        "“%(attribute)s” (%(type)s) %(operator)s %(value)s can never be compared. Choose "
                        "a value of the attribute's type.",
                        attribute=condition.attribute,
                        type=attribute.type.value,
                        operator=condition.operator.value,
                        value=possible.words,
                    )
                )


def _conditions(subject: EndpointSubject) -> Iterator[tuple[Origin, str, DesignedCondition]]:
    """Yield the place of each condition, the entity of its attribute, and the condition."""
    query = subject.definition.settings.designed_query
    if query is not None:
        yield from ((Origin(QUERY), *placed_condition) for placed_condition in conditions(query))
    for fetcher in subject.definition.fetchers:
        if fetcher.query is not None:
            yield from (
                (Origin(f"fetchers.{fetcher.name}.query"), *placed_condition)
                for placed_condition in conditions(fetcher.query)
            )
    for rule in applied_rules(subject):
        conditions_in_rule = conditions_of_filter(rule.filter, None, {None: rule.entity})
        yield from ((rule.origin, *placed_condition) for placed_condition in conditions_in_rule)


def _possible_values_of(subject: EndpointSubject, value: object) -> PossibleValues | None:
    """Return what the value of a condition may be; None when another rule checks it."""
    match value:
        case UserValue("type"):
            return PossibleValues("@user.type", _samples_of_names(subject.surroundings.caller_types))
        case UserValue("roles"):
            return PossibleValues("@user.roles", _samples_of_names(subject.surroundings.roles))
        case UserValue(name):
            return given_by_user(subject, name)
        case FetchValue(fetcher, key):
            return given_by_fetcher(subject, f"{fetcher}.{key}")
    return None


def _may_compare(condition: DesignedCondition, attribute: Attribute, possible: PossibleValues) -> bool:
    """Whether the condition can compare its attribute with at least one value that `possible` may give."""
    # An empty value is no wrong one: such a condition holds for no row.
    return any(
        value is None or value is UNKNOWN or can_compare(condition, attribute, value, calendar())
        for sample in possible.samples
        for value in _values_in_requests(sample)
    )


def _samples_of_names(names: Iterable[str]) -> tuple[_Name, ...]:
    """Return the names as samples.

    Names of roles and types are texts, and never ids; without any, one sample name.
    """
    return tuple(map(_Name, names)) or (_Name("name"),)


def _values_in_requests(sample: Any) -> tuple[Any, ...]:
    """Return the values that a sample stands for, in the form that conditions compare."""
    match sample:
        case _Name():
            return (str(sample),)
        case str():
            return _TEXTS
        case Reference():
            return (Reference(sample.entity, _ID),)
        case dt.datetime():
            # Where the attribute holds days, only midnight can be compared.
            return (sample, sample.replace(hour=0))
        case list():
            return (tuple(sample),)
    return (sample,)
