"""Operators in the words of Advanced Find, in the order in which it offers them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crmclient.query.designed import OPERATORS, DateOperator, DesignedOperator, values_taken
from crmclient.query.families import Family, families_of

_WORDS: Final[Mapping[str, Promise]] = {
    "on": _("On"),
    "on-or-after": _("On or after"),
    "on-or-before": _("On or before"),
    "eq": _("Equals"),
    "ne": _("Does not equal"),
    "in": _("Equals any of"),
    "not-in": _("Equals none of"),
    "contain-values": _("Contains values"),
    "not-contain-values": _("Does not contain values"),
    "contains": _("Contains"),
    "begins-with": _("Begins with"),
    "not-begin-with": _("Does not begin with"),
    "ends-with": _("Ends with"),
    "not-end-with": _("Does not end with"),
    "like": _("Matches a pattern"),
    "not-like": _("Does not match a pattern"),
    "gt": _("Is greater than"),
    "ge": _("Is greater than or equal to"),
    "lt": _("Is less than"),
    "le": _("Is less than or equal to"),
    "between": _("Is between"),
    "not-between": _("Is not between"),
    "null": _("Does not contain data"),
    "not-null": _("Contains data"),
    "eq-userid": _("Equals current user"),
    "ne-userid": _("Does not equal current user"),
    "eq-userteams": _("Equals current user's teams"),
    "eq-useroruserteams": _("Equals current user or user's teams"),
    "eq-useroruserhierarchy": _("Equals current user or their reporting hierarchy"),
    "eq-useroruserhierarchyandteams": _("Equals current user and their teams or their reporting hierarchy"),
    "eq-businessid": _("Equals current business unit"),
    "ne-businessid": _("Does not equal current business unit"),
    "under": _("Under"),
    "eq-or-under": _("Under or equal"),
    "not-under": _("Not under"),
    "above": _("Above"),
    "eq-or-above": _("Above or equal"),
    "today": _("Today"),
    "yesterday": _("Yesterday"),
    "tomorrow": _("Tomorrow"),
    "last-seven-days": _("Last 7 days"),
    "next-seven-days": _("Next 7 days"),
    "last-week": _("Last week"),
    "this-week": _("This week"),
    "next-week": _("Next week"),
    "last-month": _("Last month"),
    "this-month": _("This month"),
    "next-month": _("Next month"),
    "last-year": _("Last year"),
    "this-year": _("This year"),
    "next-year": _("Next year"),
    "last-x-hours": _("Last X hours"),
    "next-x-hours": _("Next X hours"),
    "last-x-days": _("Last X days"),
    "next-x-days": _("Next X days"),
    "last-x-weeks": _("Last X weeks"),
    "next-x-weeks": _("Next X weeks"),
    "last-x-months": _("Last X months"),
    "next-x-months": _("Next X months"),
    "last-x-years": _("Last X years"),
    "next-x-years": _("Next X years"),
    "olderthan-x-minutes": _("Older than X minutes"),
    "olderthan-x-hours": _("Older than X hours"),
    "olderthan-x-days": _("Older than X days"),
    "olderthan-x-weeks": _("Older than X weeks"),
    "olderthan-x-months": _("Older than X months"),
    "olderthan-x-years": _("Older than X years"),
    "last-fiscal-year": _("Last fiscal year"),
    "this-fiscal-year": _("This fiscal year"),
    "next-fiscal-year": _("Next fiscal year"),
    "in-fiscal-year": _("In fiscal year"),
}
# For attributes of these families, an operator has another name.
_OF_FAMILY: Final[Mapping[tuple[str, Family], Promise]] = {
    ("gt", Family.TIME): _("Is after"),
    ("ge", Family.TIME): _("Is at or after"),
    ("lt", Family.TIME): _("Is before"),
    ("le", Family.TIME): _("Is at or before"),
}
_ORDER: Final = {name: position for position, name in enumerate(_WORDS)}


@dataclass(frozen=True, slots=True)
class OfferedOperator:
    """An operator for a condition.

    `values` is the number of values that it takes; None: any number. `is_relative`: it compares with the
    present moment, so that it takes no date.
    """

    name: str
    label: str
    values: int | None
    is_relative: bool


def operators_of(family: Family) -> Iterator[OfferedOperator]:
    """Yield the operators for attributes of `family`. Those unknown to Advanced Find come last."""
    for operator in sorted(
        OPERATORS.values(), key=lambda candidate: _ORDER.get(candidate.value, len(_ORDER))
    ):
        if family in families_of(operator):
            yield _offered(operator, family)


def operator_label(name: str, family: Family | None = None) -> str:
    """Return the words for an operator. `family`: that of the attribute, which may have words of its own.

    Operators that Advanced Find does not know get words from their name: `last-x-fiscal-years` is “Last X
    fiscal years”.
    """
    words = _OF_FAMILY.get((name, family)) if family else None
    return str(words or _WORDS.get(name) or name.replace("-", " ").capitalize().replace(" x ", " X "))


def _offered(operator: DesignedOperator, family: Family) -> OfferedOperator:
    """Return an operator as it is offered for attributes of `family`."""
    values = values_taken(operator)
    is_relative = isinstance(operator, DateOperator) and (values == 0 or "-x-" in operator.value)
    return OfferedOperator(operator.value, operator_label(operator.value, family), values, is_relative)
