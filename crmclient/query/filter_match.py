"""Decides whether a record meets a filter, without the platform: for values that are not stored yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from crmclient.query.ast import Condition, Filter, FilterItem, Link, Operator
from crmclient.query.patterns import MATCHING
from crmclient.text import fold
from crmclient.values import Reference, Value


class Undecidable(Exception):
    """A condition that only a platform can decide, such as a pattern or one on a link."""


def matches(filter: Filter, values: Mapping[str, Value]) -> bool:
    """Whether `values`, which hold every attribute of the filter, meet it. Raises Undecidable.

    As platforms have it: negations hold for empty values, texts are compared without regard to case and
    accents, and an empty text is an empty value. One item that settles a group settles it whatever the others
    are.
    """
    # `filter.any` is also the value of an item that settles the group: one that holds settles an or, and one
    # that does not hold settles an and.
    undecided: Undecidable | None = None
    for item in filter.items:
        try:
            holds = _item_holds(item, values)
        except Undecidable as error:
            undecided = error
            continue
        if holds is filter.any:
            return holds
    if undecided is not None:
        raise undecided
    # No item has settled the group: an or holds for nothing then, but an empty group holds for everything.
    return not (filter.any and filter.items)


def _item_holds(item: FilterItem, values: Mapping[str, Value]) -> bool:
    """Whether the values meet one item of a filter. Raises Undecidable, always for a link."""
    match item:
        case Condition():
            return _condition_holds(item, values)
        case Link():
            raise Undecidable(item.alias)
    return matches(item, values)


def names_compared(filter: Filter) -> Iterator[str]:
    """Yield the attributes whose texts are compared. A lookup among them is compared by name, so its value
    needs one.
    """
    for item in filter.items:
        if isinstance(item, Filter):
            yield from names_compared(item)
        elif isinstance(item, Condition) and item.operator in MATCHING and item.link is None:
            yield item.attribute


def _condition_holds(condition: Condition, values: Mapping[str, Value]) -> bool:
    """Whether the values meet one condition. Raises Undecidable."""
    if condition.link is not None or condition.value_of is not None or condition.attribute not in values:
        raise Undecidable(condition.attribute)
    operator, record_value = condition.operator, values[condition.attribute]
    if operator in MATCHING and isinstance(record_value, Reference):
        if record_value.name is None:
            raise Undecidable(condition.attribute)
        record_value = record_value.name
    # An empty text and no options at all are empty values.
    value = None if record_value in ("", ()) else _in_comparable_form(record_value)
    if operator is Operator.NULL:
        return value is None
    if operator is Operator.NOT_NULL:
        return value is not None
    negated = _NEGATIONS.get(operator)
    compare = _COMPARISONS.get(operator if negated is None else negated)
    if compare is None:
        raise Undecidable(operator.value)
    if value is None:
        # Only negations hold for an empty value.
        return negated is not None
    wanted = tuple(_in_comparable_form(wanted_value) for wanted_value in condition.values)
    # A negation holds where what it negates does not.
    return compare(value, wanted) is (negated is None)


def _in_comparable_form(value: Any) -> Any:
    """Return a value in the form in which it is compared: folded text, a lookup's id, a set of options."""
    if isinstance(value, Reference):
        return value.id
    if isinstance(value, tuple):
        return frozenset(value)
    return fold(value) if isinstance(value, str) else value


_COMPARISONS: Final[dict[Operator, Callable[[Any, tuple[Any, ...]], bool]]] = {
    Operator.EQ: lambda value, wanted: value == wanted[0],
    Operator.GT: lambda value, wanted: value > wanted[0],
    Operator.GE: lambda value, wanted: value >= wanted[0],
    Operator.LT: lambda value, wanted: value < wanted[0],
    Operator.LE: lambda value, wanted: value <= wanted[0],
    Operator.BETWEEN: lambda value, wanted: wanted[0] <= value <= wanted[1],
    Operator.IN: lambda value, wanted: value in wanted,
    Operator.CONTAIN_VALUES: lambda value, wanted: not value.isdisjoint(_options(wanted)),
    Operator.BEGINS_WITH: lambda value, wanted: value.startswith(wanted[0]),
    Operator.ENDS_WITH: lambda value, wanted: value.endswith(wanted[0]),
    Operator.CONTAINS: lambda value, wanted: wanted[0] in value,
}
_NEGATIONS: Final = {
    Operator.NE: Operator.EQ,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_BETWEEN: Operator.BETWEEN,
    Operator.NOT_BEGINS_WITH: Operator.BEGINS_WITH,
    Operator.NOT_ENDS_WITH: Operator.ENDS_WITH,
    Operator.NOT_CONTAIN_VALUES: Operator.CONTAIN_VALUES,
}


DECIDED: Final = frozenset({Operator.NULL, Operator.NOT_NULL, *_COMPARISONS, *_NEGATIONS})
"""The operators that are decided here."""

HOLD_FOR_EMPTY: Final = frozenset({Operator.NULL, *_NEGATIONS, Operator.NOT_LIKE, Operator.NOT_UNDER})
"""The operators whose condition an empty value meets."""


def _options(values: tuple[Any, ...]) -> set[int]:
    """Return the options among the values, each of which is a number or a set of numbers."""
    return {option for item in values for option in (item if isinstance(item, frozenset) else (item,))}
