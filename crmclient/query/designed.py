"""Queries as people design them: the nodes of `crmclient.query.ast`, and what only a moment and a caller make
definite. `crmclient.query.resolving` turns them into queries that a platform runs.

Beside literals, values may be parameters, properties of the caller, and what was read before; beside a
platform's operators there are those relative to now, to a calendar and to the caller. A literal is text, as
FetchXML writes it: its type comes from the attribute it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from crmclient.query.ast import Column, Operator, Order
from crmclient.query.shape import LISTS


class DateOperator(str, Enum):
    """Operators that compare with whole days, or relative to now. Each name is FetchXML's."""

    ON = "on"
    ON_OR_AFTER = "on-or-after"
    ON_OR_BEFORE = "on-or-before"
    TODAY = "today"
    YESTERDAY = "yesterday"
    TOMORROW = "tomorrow"
    THIS_WEEK = "this-week"
    LAST_WEEK = "last-week"
    NEXT_WEEK = "next-week"
    THIS_MONTH = "this-month"
    LAST_MONTH = "last-month"
    NEXT_MONTH = "next-month"
    THIS_YEAR = "this-year"
    LAST_YEAR = "last-year"
    NEXT_YEAR = "next-year"
    THIS_FISCAL_YEAR = "this-fiscal-year"
    LAST_FISCAL_YEAR = "last-fiscal-year"
    NEXT_FISCAL_YEAR = "next-fiscal-year"
    IN_FISCAL_YEAR = "in-fiscal-year"
    LAST_SEVEN_DAYS = "last-seven-days"
    NEXT_SEVEN_DAYS = "next-seven-days"
    LAST_X_HOURS = "last-x-hours"
    NEXT_X_HOURS = "next-x-hours"
    LAST_X_DAYS = "last-x-days"
    NEXT_X_DAYS = "next-x-days"
    LAST_X_WEEKS = "last-x-weeks"
    NEXT_X_WEEKS = "next-x-weeks"
    LAST_X_MONTHS = "last-x-months"
    NEXT_X_MONTHS = "next-x-months"
    LAST_X_YEARS = "last-x-years"
    NEXT_X_YEARS = "next-x-years"
    OLDER_THAN_X_MINUTES = "olderthan-x-minutes"
    OLDER_THAN_X_HOURS = "olderthan-x-hours"
    OLDER_THAN_X_DAYS = "olderthan-x-days"
    OLDER_THAN_X_WEEKS = "olderthan-x-weeks"
    OLDER_THAN_X_MONTHS = "olderthan-x-months"
    OLDER_THAN_X_YEARS = "olderthan-x-years"


class UserOperator(str, Enum):
    """Operators that compare with the caller. Each name is FetchXML's."""

    EQ_USER = "eq-userid"
    NE_USER = "ne-userid"
    EQ_BUSINESS_UNIT = "eq-businessid"
    NE_BUSINESS_UNIT = "ne-businessid"
    EQ_USER_TEAMS = "eq-userteams"
    EQ_USER_OR_TEAMS = "eq-useroruserteams"


DesignedOperator: TypeAlias = Operator | DateOperator | UserOperator

OPERATORS: Final[dict[str, DesignedOperator]] = {
    operator.value: operator for family in (Operator, DateOperator, UserOperator) for operator in family
}
"""Every operator by its name."""

WHOLE_DAYS: Final = frozenset({DateOperator.ON, DateOperator.ON_OR_AFTER, DateOperator.ON_OR_BEFORE})

_NO_VALUE: Final = {Operator.NULL, Operator.NOT_NULL, *UserOperator}
_TWO_VALUES: Final = {Operator.BETWEEN, Operator.NOT_BETWEEN}


def values_taken(operator: DesignedOperator) -> int | None:
    """How many values an operator takes; None: at least one."""
    if isinstance(operator, DateOperator):
        counts = "-x-" in operator.value or operator is DateOperator.IN_FISCAL_YEAR
        return int(counts or operator in WHOLE_DAYS)
    if operator in LISTS:
        return None
    return 0 if operator in _NO_VALUE else 2 if operator in _TWO_VALUES else 1


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """`@name`: what the caller gives. Among several values it may stand for many."""

    name: str


@dataclass(frozen=True, slots=True)
class UserValue:
    """`@user.name`: a property of the caller, or what every caller has: `type`, and `roles`, a list."""

    name: str


@dataclass(frozen=True, slots=True)
class ClaimValue:
    """`@user.claims.path`: a claim of the caller's token. Whoever signs the token says what is in it."""

    path: str


@dataclass(frozen=True, slots=True)
class FetchValue:
    """`@fetch.fetcher.key`: a column, by its key in the row, of what a data fetcher has read."""

    fetcher: str
    key: str


@dataclass(frozen=True, slots=True)
class RecordValue:
    """`@record.attribute`: an attribute of the record that the operation is about."""

    attribute: str


DesignedValue: TypeAlias = Literal | Parameter | UserValue | ClaimValue | FetchValue | RecordValue


@dataclass(frozen=True, slots=True)
class DesignedColumn(Column):
    """`user_time_zone`: dates are grouped in the calendar's time zone, else in UTC."""

    user_time_zone: bool = True


@dataclass(frozen=True, slots=True)
class DesignedCondition:
    """As `ast.Condition`. In a link's filter, the name of the query's entity as `link` means that entity."""

    attribute: str
    operator: DesignedOperator
    values: tuple[DesignedValue, ...] = ()
    link: str | None = None
    value_of: tuple[str | None, str] | None = None


@dataclass(frozen=True, slots=True)
class DesignedFilter:
    """All of `items` (and), or any of them (or)."""

    items: tuple[DesignedItem, ...] = ()
    any: bool = False


DesignedItem: TypeAlias = DesignedCondition | DesignedFilter


@dataclass(frozen=True, slots=True)
class DesignedLink:
    """As `ast.Link`; with `all_columns` every attribute of the entity is selected beside `columns`."""

    entity: str
    from_attribute: str
    to_attribute: str
    alias: str
    outer: bool = False
    columns: tuple[DesignedColumn, ...] = ()
    filter: DesignedFilter | None = None
    links: tuple[DesignedLink, ...] = ()
    all_columns: bool = False


@dataclass(frozen=True, slots=True)
class DesignedQuery:
    """As `ast.Query`. `page_size` and `total` say which `ast.Page` the text asked for: its first one."""

    entity: str
    columns: tuple[DesignedColumn, ...] = ()
    filter: DesignedFilter | None = None
    links: tuple[DesignedLink, ...] = ()
    orders: tuple[Order, ...] = ()
    distinct: bool = False
    top: int | None = None
    all_columns: bool = False
    page_size: int | None = None
    total: bool = False

    @property
    def is_aggregate(self) -> bool:
        return _aggregates(self)


def _aggregates(source: DesignedQuery | DesignedLink) -> bool:
    own = any(column.aggregate is not None or column.group_by for column in source.columns)
    return own or any(_aggregates(link) for link in source.links)
