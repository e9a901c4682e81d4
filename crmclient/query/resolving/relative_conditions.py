"""Conditions relative to the caller, to now and to the organisation's calendar, in given circumstances.

Each function returns how the condition is built, and raises ValueError for what is always wrong.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, TypeAlias

from crmclient import value_checks
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior, PlatformUser, UserReports
from crmclient.query import literals
from crmclient.query.ast import Condition, Filter, FilterItem, Operator
from crmclient.query.bounds import MOST_VALUES
from crmclient.query.calendar import COUNTED_FROM_NOW, Bound, Calendar, Moment
from crmclient.query.designed import (
    OF_HIERARCHY,
    PERIODS_OF_YEARS,
    WHOLE_DAYS,
    DateOperator,
    DesignedCondition,
    Literal,
    UserOperator,
)
from crmclient.query.resolving.circumstances import Circumstances, read_value, user_of
from crmclient.sentences import Sentence

_Ids: TypeAlias = Callable[[PlatformUser, UserReports], tuple[str, ...]]
"""The ids to compare with, of the caller and of those who report to the caller."""

_OF_USER: Final[dict[UserOperator, tuple[Operator, _Ids]]] = {
    UserOperator.EQ_USER: (Operator.EQ, lambda user, _: (user.id,)),
    UserOperator.NE_USER: (Operator.NE, lambda user, _: (user.id,)),
    UserOperator.EQ_BUSINESS_UNIT: (Operator.EQ, lambda user, _: (user.business_unit_id,)),
    UserOperator.NE_BUSINESS_UNIT: (Operator.NE, lambda user, _: (user.business_unit_id,)),
    UserOperator.EQ_USER_TEAMS: (Operator.IN, lambda user, _: user.team_ids),
    UserOperator.EQ_USER_OR_TEAMS: (Operator.IN, lambda user, _: (user.id, *user.team_ids)),
    UserOperator.EQ_USER_OR_HIERARCHY: (Operator.IN, lambda user, reports: (user.id, *reports.user_ids)),
    UserOperator.EQ_USER_OR_HIERARCHY_AND_TEAMS: (
        Operator.IN,
        lambda user, reports: (user.id, *user.team_ids, *reports.user_ids, *reports.team_ids),
    ),
}


def of_user(
    condition: DesignedCondition, operator: UserOperator, attribute: Attribute
) -> Callable[[Circumstances], FilterItem]:
    """Return the function that makes a condition on the caller, or on those who report to it. Raises
    ValueError for an attribute that holds no ids.
    """
    if not attribute.type.is_reference and attribute.type is not AttributeType.UNIQUEIDENTIFIER:
        raise ValueError(Sentence("a %(type)s cannot be compared with the caller", type=attribute.type.value))
    plain_operator, ids = _OF_USER[operator]

    def build(circumstances: Circumstances) -> FilterItem:
        """Return the condition with the caller's ids: several conditions for more ids than one takes."""
        user = user_of(circumstances)
        values = ids(user, circumstances.reports() if operator in OF_HIERARCHY else UserReports())
        if not values:
            return _never(condition)
        # Each id once, in their order: somebody may be in the same team as those who report to them.
        values = tuple(dict.fromkeys(values))
        parts = tuple(
            Condition(
                condition.attribute, plain_operator, values[start : start + MOST_VALUES], condition.link
            )
            for start in range(0, len(values), MOST_VALUES)
        )
        return parts[0] if len(parts) == 1 else Filter(parts, any=True)

    return build


def _never(condition: DesignedCondition) -> FilterItem:
    """Return a filter that never matches a row."""
    empty, filled = (
        Condition(condition.attribute, operator, (), condition.link)
        for operator in (Operator.NULL, Operator.NOT_NULL)
    )
    return Filter((empty, filled))


def of_date(
    condition: DesignedCondition, operator: DateOperator, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    """Return the function that makes a condition on a date, with definite bounds. Raises ValueError for an
    attribute of another type, and for literals that are wrong at any time.
    """
    if attribute.type is not AttributeType.DATETIME:
        raise ValueError(_not_a_date(attribute))
    if attribute.behavior is DateTimeBehavior.DATE_ONLY and operator in COUNTED_FROM_NOW:
        raise ValueError(Sentence("the attribute holds days without a time"))
    values = condition.values

    def day(raw: object) -> dt.date:
        """Return a value as a day that platforms can store. Raises TypeError, ValueError."""
        return value_checks.day(literals.day_of(raw, calendar))

    def bounds(circumstances: Circumstances) -> tuple[Bound, ...] | None:
        """Return the bounds that the operator stands for; None for a fiscal period that no year has."""
        moment = Moment(circumstances.now, calendar)
        if operator in PERIODS_OF_YEARS:
            period, year = (read_value(value, circumstances, _whole_number) for value in values)
            return moment.in_period(operator, period, year)
        if operator in WHOLE_DAYS:
            return moment.on(operator, read_value(values[0], circumstances, day))
        # An operator without a number, such as *today*, does not read the 1.
        number = read_value(values[0], circumstances, _whole_number) if values else 1
        return moment.bounds(operator, number)

    def build(circumstances: Circumstances) -> FilterItem:
        """Return a condition for each bound, all of which have to hold."""
        limits = bounds(circumstances)
        if limits is None:
            # Years have no fiscal period of that number.
            return _never(condition)
        parts = tuple(
            Condition(condition.attribute, sign, (stored_bound(instant, attribute),), condition.link)
            for sign, instant in limits
        )
        return parts[0] if len(parts) == 1 else Filter(parts)

    if values and all(isinstance(value, Literal) for value in values):
        # Built once to find wrong literals now rather than in a request.
        build(Circumstances(dt.datetime.now(dt.UTC)))
    return build


def of_period(condition: DesignedCondition, attribute: Attribute) -> Callable[[Circumstances], FilterItem]:
    """Return the function that builds a condition on the number of a fiscal period in any year.

    The number is passed on as it is: the platform knows its calendar.
    """
    if attribute.type is not AttributeType.DATETIME:
        raise ValueError(_not_a_date(attribute))
    (value,) = condition.values

    def build(circumstances: Circumstances) -> FilterItem:
        number = read_value(value, circumstances, _period_number)
        return Condition(condition.attribute, Operator.IN_FISCAL_PERIOD, (number,), condition.link)

    if isinstance(value, Literal):
        # Built once to find a wrong literal now rather than in a request.
        build(Circumstances(dt.datetime.now(dt.UTC)))
    return build


def _period_number(value: object) -> int:
    """Return the number of a fiscal period, counted from 1. Raises TypeError, ValueError."""
    number = _whole_number(value)
    if number < 1:
        raise ValueError(Sentence("the number must be at least 1"))
    return number


def _not_a_date(attribute: Attribute) -> Sentence:
    return Sentence("the operator compares dates, not a %(type)s", type=attribute.type.value)


def stored_bound(instant: dt.datetime, attribute: Attribute) -> dt.date:
    """Return a bound, given in the calendar's zone, as the attribute stores it. Raises ValueError for one
    that no record can have.
    """
    match attribute.behavior:
        case DateTimeBehavior.DATE_ONLY:
            return value_checks.day(instant.date())
        case DateTimeBehavior.TIME_ZONE_INDEPENDENT:
            # Such an attribute stores what a clock shows, in UTC, wherever that clock hangs.
            return value_checks.moment(instant.replace(tzinfo=dt.UTC))
    return value_checks.moment(literals.shifted(instant, dt.UTC))


def _whole_number(value: object) -> int:
    """Return a whole number, which may be given as a text. Raises TypeError, ValueError."""
    if isinstance(value, str):
        return literals.read_whole(value)
    if type(value) is not int:
        raise TypeError(Sentence("a whole number is needed"))
    return value
