"""Prepares conditions: finds what is wrong with one, and builds it in given circumstances."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar, cast

from crmclient import value_checks
from crmclient.errors import UnfitValue
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query import literals
from crmclient.query.ast import Condition, FilterItem, Operator
from crmclient.query.bounds import MOST_VALUES
from crmclient.query.calendar import Calendar
from crmclient.query.designed import (
    DateOperator,
    DesignedCondition,
    Literal,
    Parameter,
    UserOperator,
    values_taken,
)
from crmclient.query.families import (
    FAMILY,
    OF_RECORDS_HIERARCHY,
    OPERATORS,
    Family,
    are_comparable,
    why_not_comparable,
)
from crmclient.query.patterns import MATCHING, pattern_of
from crmclient.query.resolving.circumstances import Absent, Circumstances, Unknown, read_value
from crmclient.query.resolving.names import Names
from crmclient.query.resolving.relative_conditions import of_date, of_period, of_user
from crmclient.query.shape import LISTS
from crmclient.sentences import Sentence
from crmclient.values import Reference, Value

T = TypeVar("T")

Resolve: TypeAlias = Callable[[Circumstances], FilterItem | None]
"""A condition or group in given circumstances; None where it is left out."""

_HOLD_IDS: Final = frozenset({Family.TEXT, Family.GUID, Family.REFERENCE})
_OPTIONS: Final = frozenset({Operator.CONTAIN_VALUES, Operator.NOT_CONTAIN_VALUES})
_EXACT: Final = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN})


@dataclass(frozen=True, slots=True)
class Writer:
    """Prepares conditions in the filter of the link `holder`; None: in that of the query's own entity.

    With `denied`, the filter is inside a link that keeps rows for which the filter does not hold. A condition
    that holds for nothing would keep rows there, so Unknown is passed on to that link.
    """

    names: Names
    calendar: Calendar
    holder: str | None
    denied: bool = False

    def prepare(self, condition: DesignedCondition) -> Resolve | None:
        """Prepare a condition; None for a wrong condition, whose problem is added to those of the names."""
        construct = construct_of(condition)
        alias = self.holder if condition.link is None else condition.link
        if not self._may_name(alias, construct):
            return None
        attribute = self.names.attribute(alias, condition.attribute, construct)
        if condition.value_of is not None:
            return None if attribute is None else self._comparison(condition, attribute, *condition.value_of)
        number_taken = values_taken(condition.operator)
        number_given = len(condition.values)
        # None: any number but zero.
        has_number_taken = number_given > 0 if number_taken is None else number_given == number_taken
        if not has_number_taken:
            self.names.add_problem(construct, _wrong_number_of_values(number_taken, number_given))
            return None
        if attribute is None:
            return None
        if self._lacks_hierarchy(condition, alias, attribute):
            self.names.add_problem(construct, Sentence("the records that it names form no hierarchy"))
            return None
        try:
            build = _builder(condition, attribute, self.calendar)
        except (TypeError, ValueError) as error:
            self.names.add_problem(construct, str(error))
            return None
        return self._guarded(build, construct)

    def _lacks_hierarchy(self, condition: DesignedCondition, alias: str | None, attribute: Attribute) -> bool:
        """Whether the operator follows a hierarchy that does not exist."""
        follows = condition.operator in OF_RECORDS_HIERARCHY
        applies = follows and FAMILY[attribute.type] in OPERATORS[Operator.UNDER]
        return applies and not self.names.has_hierarchy(alias, attribute)

    def _may_name(self, alias: str | None, construct: str) -> bool:
        """Return whether a condition may name the link `alias` from where it stands. If not, note a
        problem.
        """
        if self.names.are_near(alias, self.holder):
            return True
        if self.holder is None:
            self.names.add_problem(
                construct,
                Sentence("what is in the link %(alias)s cannot be named outside of it", alias=repr(alias)),
            )
            return False
        self.names.add_problem(
            construct,
            Sentence("a link's filter can name the link or its parent, not %(alias)s", alias=repr(alias)),
        )
        return False

    def _comparison(
        self, condition: DesignedCondition, attribute: Attribute, other: str | None, name: str
    ) -> Resolve | None:
        """Prepare a comparison with the attribute `name` of the link with the alias `other` (None: of the
        holder). None for a wrong one, which is noted as a problem.
        """
        construct = construct_of(condition)
        if condition.values or not isinstance(condition.operator, Operator):
            self.names.add_problem(
                construct,
                Sentence("compare with a value or with another attribute, by a plain operator"),
            )
            return None
        alias = self.holder if other is None else other
        if not self._may_name(alias, construct):
            return None
        right = self.names.attribute(alias, name, construct)
        if right is None:
            return None
        family = FAMILY[attribute.type]
        if family not in OPERATORS[condition.operator]:
            self.names.add_problem(construct, _not_for(family))
            return None
        if not are_comparable(attribute, right):
            self.names.add_problem(construct, why_not_comparable(attribute, right))
            return None
        comparison = Condition(
            condition.attribute, condition.operator, link=condition.link, value_of=(other, name)
        )
        # It is the same in all circumstances.
        return lambda _: comparison

    @property
    def nothing(self) -> Condition:
        """Return a condition that never matches a row: the primary id of none is empty."""
        return Condition(self.names.primary_id(self.holder), Operator.NULL)

    def _guarded(self, build: Callable[[Circumstances], FilterItem], construct: str) -> Resolve:
        """Return the function that resolves a condition: none for an absent parameter, nothing that holds for
        an unknown value of the caller. It raises UnfitValue for a value that does not fit.
        """
        # Whatever the operator: also *not the caller* holds for nothing when there is no caller.
        nothing = self.nothing

        def resolve(circumstances: Circumstances) -> FilterItem | None:
            """Return the condition; None to leave it out. Raises UnfitValue, and Unknown if `denied`."""
            try:
                return build(circumstances)
            except Absent:
                return None
            except Unknown:
                if self.denied:
                    raise
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
    # The condition is built as in a request, with a parameter in the place of each value.
    stand_in = Parameter("value")
    with_parameter = replace(condition, values=(stand_in,) * len(condition.values), link=None)
    try:
        _builder(with_parameter, attribute, calendar)(
            Circumstances(dt.datetime.now(dt.UTC), parameters={stand_in.name: value})
        )
    except Absent:
        # The value is empty. Such a condition is left out of the query, so it cannot be wrong.
        return True
    except (TypeError, ValueError):
        return False
    return True


def construct_of(condition: DesignedCondition) -> str:
    """Return how messages name a condition."""
    place = "" if condition.link is None else f"{condition.link}."
    return f"condition {place}{condition.attribute} {condition.operator.value}"


def _wrong_number_of_values(expected: int | None, count: int) -> Sentence:
    """Return the message for `count` values where the operator takes `expected` (None: at least one)."""
    match expected:
        case None:
            return Sentence("it takes at least one value, not %(given)s", given=count)
        case 0:
            return Sentence("it takes no value, not %(given)s", given=count)
        case 1:
            return Sentence("it takes one value, not %(given)s", given=count)
    return Sentence("it takes two values, not %(given)s", given=count)


def _builder(
    condition: DesignedCondition, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    """Return the function that builds the condition in given circumstances.

    Raises ValueError, TypeError for a condition that is wrong in all circumstances.
    """
    match condition.operator:
        case UserOperator():
            return of_user(condition, condition.operator, attribute)
        case DateOperator():
            return of_date(condition, condition.operator, attribute, calendar)
        case Operator.IN_FISCAL_PERIOD:
            return of_period(condition, attribute)
    return _of_values(condition, condition.operator, attribute, calendar)


def _of_values(
    condition: DesignedCondition, operator: Operator, attribute: Attribute, calendar: Calendar
) -> Callable[[Circumstances], FilterItem]:
    """Do as `_builder` for an operator whose values are compared as they are."""
    family = FAMILY[attribute.type]
    if family not in OPERATORS[operator]:
        raise ValueError(_not_for(family))
    if len(condition.values) > MOST_VALUES:
        raise ValueError(Sentence("at most %(most)s values are taken", most=MOST_VALUES))
    convert = _value_maker(operator, attribute, calendar)
    # Converted once, so that wrong literals are found now.
    literal_values = {value: convert(value.text) for value in condition.values if isinstance(value, Literal)}

    def values(circumstances: Circumstances) -> Iterator[Value]:
        """Yield the values of the condition, converted to the type of the attribute."""
        for value in condition.values:
            if isinstance(value, Literal):
                yield literal_values[value]
            else:
                yield from read_value(value, circumstances, convert_all)

    def convert_all(raw: object) -> tuple[Value, ...]:
        """Return the values of a placeholder. For an operator that takes a list, it may stand for many."""
        if operator in LISTS and isinstance(raw, tuple | list):
            return tuple(convert(item) for item in raw)
        return (convert(raw),)

    return lambda circumstances: Condition(
        condition.attribute, operator, tuple(values(circumstances)), condition.link
    )


def _not_for(family: Family) -> Sentence:
    """Return the message for an operator that attributes of a family cannot be compared by."""
    if family is Family.CHOICES:
        return Sentence("a multi-select choice is compared by contain-values, not-contain-values, eq and ne")
    return Sentence("the operator does not apply to a %(family)s", family=family.words)


def _options(operator: Operator, value: object) -> Value:
    """Return one option, or for `eq` and `ne` all options. Raises TypeError, ValueError."""
    if operator in _OPTIONS:
        return value_checks.integer(value)
    return tuple(value_checks.integer(option) for option in value_checks.options(value))


def _value_maker(operator: Operator, attribute: Attribute, calendar: Calendar) -> Callable[[object], Value]:
    """Return the function that converts a value to one that can be compared with the attribute.

    The function raises TypeError, ValueError.
    """
    holds_times = attribute.behavior is not DateTimeBehavior.DATE_ONLY

    def convert(value: object) -> Value:
        """Return a text, a reference or a typed value as a value of the attribute's type."""
        if isinstance(value, Reference):
            if FAMILY[attribute.type] not in _HOLD_IDS:
                raise TypeError(
                    Sentence("a lookup cannot be compared with a %(type)s", type=attribute.type.value)
                )
            value = value.id
        if operator in MATCHING:
            if isinstance(value, tuple | list):
                raise TypeError(Sentence("one text is needed, not several"))
            text = literals.read_text(str(value))
            # A pattern that is too long is a wrong value.
            pattern_of(operator, text)
            return text
        if isinstance(value, str):
            value = literals.read_whole(value) if operator in _OPTIONS else literals.read(value, attribute)
        if attribute.type is AttributeType.MULTISELECT:
            return _options(operator, value)
        if attribute.type is not AttributeType.DATETIME:
            literals.check_fits(cast(Value, value), attribute)
            return cast(Value, value)
        if not isinstance(value, dt.date):
            raise TypeError(Sentence("a date is needed"))
        # A day in the place of an exact time is most likely a mistake.
        if operator in _EXACT and holds_times and not isinstance(value, dt.datetime):
            raise ValueError(
                Sentence(
                    "the attribute holds times: %(operator)s %(value)s would mean midnight alone; "
                    "use on for the whole day, or give a time",
                    operator=operator.value,
                    value=value.isoformat(),
                )
            )
        stored = literals.stored(value, attribute, calendar)
        literals.check_fits(stored, attribute)
        return stored

    return convert
