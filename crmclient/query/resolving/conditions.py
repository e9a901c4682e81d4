"""One condition at a time: what is wrong with it, and what it becomes in given circumstances."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar, cast

from crmclient import fitting
from crmclient.errors import UnfitValue
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior, PlatformUser
from crmclient.query import literals
from crmclient.query.ast import Condition, Filter, FilterItem, Operator
from crmclient.query.bounds import MOST_VALUES
from crmclient.query.calendar import COUNTED_FROM_NOW, Bound, Calendar, Moment
from crmclient.query.designed import (
    WHOLE_DAYS,
    ClaimValue,
    DateOperator,
    DesignedCondition,
    DesignedValue,
    Literal,
    Parameter,
    UserOperator,
    values_taken,
)
from crmclient.query.families import FAMILY, OPERATORS, Family, are_comparable, not_comparable
from crmclient.query.resolving.circumstances import Absent, Circumstances, Unknown, user_of, value_of
from crmclient.query.resolving.names import Names
from crmclient.query.shape import LISTS
from crmclient.sentences import Sentence
from crmclient.values import Reference, Value

T = TypeVar("T")

Resolve: TypeAlias = Callable[[Circumstances], FilterItem | None]
"""A condition or group in given circumstances; None where it is left out."""

_TEXTS: Final = frozenset(
    {
        Operator.LIKE,
        Operator.NOT_LIKE,
        Operator.BEGINS_WITH,
        Operator.NOT_BEGINS_WITH,
        Operator.ENDS_WITH,
        Operator.NOT_ENDS_WITH,
        Operator.CONTAINS,
    }
)
_HOLD_IDS: Final = frozenset({Family.TEXT, Family.GUID, Family.REFERENCE})
_OPTIONS: Final = frozenset({Operator.CONTAIN_VALUES, Operator.NOT_CONTAIN_VALUES})
_EXACT: Final = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN})

_OF_USER: Final[dict[UserOperator, tuple[Operator, Callable[[PlatformUser], tuple[str, ...]]]]] = {
    UserOperator.EQ_USER: (Operator.EQ, lambda user: (user.id,)),
    UserOperator.NE_USER: (Operator.NE, lambda user: (user.id,)),
    UserOperator.EQ_BUSINESS_UNIT: (Operator.EQ, lambda user: (user.business_unit_id,)),
    UserOperator.NE_BUSINESS_UNIT: (Operator.NE, lambda user: (user.business_unit_id,)),
    UserOperator.EQ_USER_TEAMS: (Operator.IN, lambda user: user.team_ids),
    UserOperator.EQ_USER_OR_TEAMS: (Operator.IN, lambda user: (user.id, *user.team_ids)),
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Prepares conditions that stand in the filter of the entity or link `standing`."""

    names: Names
    calendar: Calendar
    standing: str | None

    def prepare(self, condition: DesignedCondition) -> Resolve | None:
        """None when something is wrong, which is then among the names' problems."""
        construct = construct_of(condition)
        alias = self.standing if condition.link is None else condition.link
        if not self._reaches(alias, construct):
            return None
        attribute = self.names.attribute(alias, condition.attribute, construct)
        if condition.value_of is not None:
            return None if attribute is None else self._compared(condition, attribute, *condition.value_of)
        taken = values_taken(condition.operator)
        given = len(condition.values)
        if taken != given and (taken is not None or not given):
            self.names.wrong(construct, _takes(taken, given))
            return None
        if attribute is None:
            return None
        try:
            build = _builder(condition, attribute, self.calendar)
        except (TypeError, ValueError) as error:
            self.names.wrong(construct, str(error))
            return None
        return self._guarded(build, construct)

    def _reaches(self, alias: str | None, construct: str) -> bool:
        if self.names.are_near(alias, self.standing):
            return True
        self.names.wrong(
            construct,
            Sentence("a link's filter can name the link or its parent, not %(alias)s", alias=repr(alias)),
        )
        return False

    def _compared(
        self, condition: DesignedCondition, attribute: Attribute, other: str | None, name: str
    ) -> Resolve | None:
        construct = construct_of(condition)
        if condition.values or not isinstance(condition.operator, Operator):
            self.names.wrong(
                construct,
                Sentence("compare with a value or with another attribute, by a plain operator"),
            )
            return None
        alias = self.standing if other is None else other
        if not self._reaches(alias, construct):
            return None
        right = self.names.attribute(alias, name, construct)
        if right is None:
            return None
        family = FAMILY[attribute.type]
        if family not in OPERATORS[condition.operator]:
            self.names.wrong(construct, _not_for(family))
            return None
        if not are_comparable(attribute, right):
            self.names.wrong(construct, not_comparable(attribute, right))
            return None
        fixed = Condition(
            condition.attribute, condition.operator, link=condition.link, value_of=(other, name)
        )
        return lambda _: fixed

    def _guarded(self, build: Callable[[Circumstances], FilterItem], construct: str) -> Resolve:
        # Whatever the operator: also *not the caller* holds for nothing when there is no caller.
        nothing = Condition(self.names.primary_id(self.standing), Operator.NULL)

        def resolve(circumstances: Circumstances) -> FilterItem | None:
            try:
                return build(circumstances)
            except Absent:
                return None
            except Unknown:
                return nothing
            except (TypeError, ValueError) as error:
                raise UnfitValue(
                    Sentence("%(construct)s: %(message)s.", construct=construct, message=str(error))
                ) from error

        return resolve


def can_compare(
    condition: DesignedCondition, attribute: Attribute, value: object, calendar: Calendar
) -> bool:
    """Whether the condition on `attribute` takes `value` in the place of what a caller or fetcher gives."""
    given = Parameter("value")
    asked = replace(condition, values=(given,) * len(condition.values), link=None)
    try:
        _builder(asked, attribute, calendar)(
            Circumstances(dt.datetime.now(dt.UTC), parameters={given.name: value})
        )
    except Absent:
        return True
    except (TypeError, ValueError):
        return False
    return True


def construct_of(condition: DesignedCondition) -> str:
    place = "" if condition.link is None else f"{condition.link}."
    return f"condition {place}{condition.attribute} {condition.operator.value}"


def _takes(values: int | None, given: int) -> Sentence:
    match values:
        case None:
            return Sentence("it takes at least one value, not %(given)s", given=given)
        case 0:
            return Sentence("it takes no value, not %(given)s", given=given)
        case 1:
            return Sentence("it takes one value, not %(given)s", given=given)
    return Sentence("it takes two values, not %(given)s", given=given)


def _builder(
    condition: DesignedCondition, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    """Raises ValueError for what is wrong whatever the circumstances."""
    match condition.operator:
        case UserOperator():
            return _of_user(condition, condition.operator, attribute)
        case DateOperator():
            return _of_date(condition, condition.operator, attribute, calendar)
    return _of_values(condition, condition.operator, attribute, calendar)


def _read(value: DesignedValue, circumstances: Circumstances, read: Callable[[object], T]) -> T:
    """What is given for `value`, as `read` makes it of the attribute's type.

    Raises Absent, Unknown, TypeError where the type is another, and ValueError for a parameter or a literal
    that the attribute cannot have. Of the caller or of a fetcher such a value is Unknown: no text of a record
    must make the endpoint fail. Of a claim that holds for its type, too: the configuration does not say it.
    """
    given = value_of(value, circumstances)
    try:
        return read(given)
    except TypeError:
        if isinstance(value, ClaimValue):
            raise Unknown from None
        raise
    except ValueError:
        if isinstance(value, Literal | Parameter):
            raise
        raise Unknown from None


def _of_user(
    condition: DesignedCondition, operator: UserOperator, attribute: Attribute
) -> Callable[[Circumstances], FilterItem]:
    if not attribute.type.is_reference and attribute.type is not AttributeType.UNIQUEIDENTIFIER:
        raise ValueError(Sentence("a %(type)s cannot be compared with the caller", type=attribute.type.value))
    plain, ids = _OF_USER[operator]

    def build(circumstances: Circumstances) -> FilterItem:
        values = ids(user_of(circumstances))
        if not values:
            raise Unknown
        return Condition(condition.attribute, plain, values, condition.link)

    return build


def _of_date(
    condition: DesignedCondition, operator: DateOperator, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    if attribute.type is not AttributeType.DATETIME:
        raise ValueError(Sentence("the operator compares dates, not a %(type)s", type=attribute.type.value))
    if attribute.behavior is DateTimeBehavior.DATE_ONLY and operator in COUNTED_FROM_NOW:
        raise ValueError(Sentence("the attribute holds days without a time"))
    values = condition.values

    def day(given: object) -> dt.date:
        return fitting.day(literals.day_of(given, calendar))

    def bounds(circumstances: Circumstances) -> tuple[Bound, ...]:
        moment = Moment(circumstances.now, calendar)
        if operator in WHOLE_DAYS:
            return moment.on(operator, _read(values[0], circumstances, day))
        return moment.bounds(operator, _read(values[0], circumstances, _count) if values else 1)

    def build(circumstances: Circumstances) -> FilterItem:
        parts = tuple(
            Condition(condition.attribute, sign, (_stored_bound(instant, attribute),), condition.link)
            for sign, instant in bounds(circumstances)
        )
        return parts[0] if len(parts) == 1 else Filter(parts)

    if values and isinstance(values[0], Literal):
        build(Circumstances(dt.datetime.now(dt.UTC)))
    return build


def _stored_bound(instant: dt.datetime, attribute: Attribute) -> dt.date:
    match attribute.behavior:
        case DateTimeBehavior.DATE_ONLY:
            return fitting.day(instant.date())
        case DateTimeBehavior.TIME_ZONE_INDEPENDENT:
            return fitting.moment(instant.replace(tzinfo=dt.UTC))
    return fitting.moment(literals.shifted(instant, dt.UTC))


def _count(value: object) -> int:
    if isinstance(value, str):
        return literals.read_whole(value)
    if type(value) is not int:
        raise TypeError(Sentence("a whole number is needed"))
    return value


def _of_values(
    condition: DesignedCondition, operator: Operator, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    family = FAMILY[attribute.type]
    if family not in OPERATORS[operator]:
        raise ValueError(_not_for(family))
    if len(condition.values) > MOST_VALUES:
        raise ValueError(Sentence("at most %(most)s values are taken", most=MOST_VALUES))
    typed = _typed(operator, attribute, calendar)
    fixed = {value: typed(value.text) for value in condition.values if isinstance(value, Literal)}

    def values(circumstances: Circumstances) -> Iterator[Value]:
        for value in condition.values:
            if isinstance(value, Literal):
                yield fixed[value]
            else:
                yield from _read(value, circumstances, several)

    def several(given: object) -> tuple[Value, ...]:
        if operator in LISTS and isinstance(given, tuple | list):
            return tuple(typed(item) for item in given)
        return (typed(given),)

    return lambda circumstances: Condition(
        condition.attribute, operator, tuple(values(circumstances)), condition.link
    )


def _not_for(family: Family) -> Sentence:
    if family is Family.CHOICES:
        return Sentence("a multi-select choice is compared by contain-values, not-contain-values, eq and ne")
    return Sentence("the operator does not apply to a %(family)s", family=family.words)


def _typed(operator: Operator, attribute: Attribute, calendar: Calendar) -> Callable[[object], Value]:
    """How a value, of a literal or given, becomes one that compares with the attribute."""
    holds_times = attribute.behavior is not DateTimeBehavior.DATE_ONLY

    def typed(value: object) -> Value:
        if isinstance(value, Reference):
            if FAMILY[attribute.type] not in _HOLD_IDS:
                raise TypeError(
                    Sentence("a lookup cannot be compared with a %(type)s", type=attribute.type.value)
                )
            value = value.id
        if operator in _TEXTS:
            if isinstance(value, tuple | list):
                raise TypeError(Sentence("one text is needed, not several"))
            return literals.read_text(str(value))
        if isinstance(value, str):
            value = literals.read_whole(value) if operator in _OPTIONS else literals.read(value, attribute)
        elif attribute.type is AttributeType.MULTISELECT:
            (fitting.whole_number if operator in _OPTIONS else fitting.options)(value)
        if attribute.type is not AttributeType.DATETIME:
            literals.fit(cast(Value, value), attribute)
            return cast(Value, value)
        if not isinstance(value, dt.date):
            raise TypeError(Sentence("a date is needed"))
        if operator in _EXACT and holds_times and not isinstance(value, dt.datetime):
            raise ValueError(
                Sentence(
                    "the attribute holds times: %(operator)s %(value)s would mean midnight alone; "
                    "use on for the whole day, or give a time",
                    operator=operator.value,
                    value=value.isoformat(),
                )
            )
        found = literals.stored(value, attribute, calendar)
        literals.fit(found, attribute)
        return found

    return typed
