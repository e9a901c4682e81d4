"""Queries as people design them: the nodes of `crmclient.query.ast`, and what only a moment and a caller make
definite. `crmclient.query.resolving` turns them into queries that a platform runs.

Beside literals, values may be parameters, properties of the caller, and what was read before; beside a
platform's operators there are those relative to now, to a calendar and to the caller. A literal is text, as
FetchXML writes it: its type comes from the attribute it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from crmclient.query.ast import Column, LinkType, Operator, Order
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
    THIS_FISCAL_PERIOD = "this-fiscal-period"
    LAST_FISCAL_PERIOD = "last-fiscal-period"
    NEXT_FISCAL_PERIOD = "next-fiscal-period"
    IN_FISCAL_PERIOD_AND_YEAR = "in-fiscal-period-and-year"
    IN_OR_BEFORE_FISCAL_PERIOD_AND_YEAR = "in-or-before-fiscal-period-and-year"
    IN_OR_AFTER_FISCAL_PERIOD_AND_YEAR = "in-or-after-fiscal-period-and-year"
    LAST_X_FISCAL_YEARS = "last-x-fiscal-years"
    NEXT_X_FISCAL_YEARS = "next-x-fiscal-years"
    LAST_X_FISCAL_PERIODS = "last-x-fiscal-periods"
    NEXT_X_FISCAL_PERIODS = "next-x-fiscal-periods"
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
    EQ_USER_OR_HIERARCHY = "eq-useroruserhierarchy"
    EQ_USER_OR_HIERARCHY_AND_TEAMS = "eq-useroruserhierarchyandteams"


DesignedOperator: TypeAlias = Operator | DateOperator | UserOperator

OPERATORS: Final[dict[str, DesignedOperator]] = {
    operator.value: operator for family in (Operator, DateOperator, UserOperator) for operator in family
}
"""Every operator by its name."""

WHOLE_DAYS: Final = frozenset({DateOperator.ON, DateOperator.ON_OR_AFTER, DateOperator.ON_OR_BEFORE})

PERIODS_OF_YEARS: Final = frozenset(
    {
        DateOperator.IN_FISCAL_PERIOD_AND_YEAR,
        DateOperator.IN_OR_BEFORE_FISCAL_PERIOD_AND_YEAR,
        DateOperator.IN_OR_AFTER_FISCAL_PERIOD_AND_YEAR,
    }
)
"""They take the number of a fiscal period, and a fiscal year."""

OF_HIERARCHY: Final = frozenset(
    {UserOperator.EQ_USER_OR_HIERARCHY, UserOperator.EQ_USER_OR_HIERARCHY_AND_TEAMS}
)
"""They compare with whoever reports to the caller, too."""

_NO_VALUE: Final = {Operator.NULL, Operator.NOT_NULL, *UserOperator}
_TWO_VALUES: Final = {Operator.BETWEEN, Operator.NOT_BETWEEN}


def values_taken(operator: DesignedOperator) -> int | None:
    """Return the number of values that an operator takes; None: at least one."""
    if operator in PERIODS_OF_YEARS:
        return 2
    if isinstance(operator, DateOperator):
        takes_number = "-x-" in operator.value or operator is DateOperator.IN_FISCAL_YEAR
        return int(takes_number or operator in WHOLE_DAYS)
    if operator in LISTS:
        return None
    if operator in _NO_VALUE:
        return 0
    return 2 if operator in _TWO_VALUES else 1


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """`@name`: a parameter, which the caller gives. Among several values it may stand for many."""

    name: str


@dataclass(frozen=True, slots=True)
class UserValue:
    """`@user.name`: a property of the caller. Every caller has `type`, and `roles`, a list."""

    name: str


@dataclass(frozen=True, slots=True)
class ClaimValue:
    """`@user.claims.path`: a claim of the caller's token. Whoever signs the token says what is in it."""

    path: str


@dataclass(frozen=True, slots=True)
class FetchValue:
    """`@fetch.fetcher.key`: a column of the row that a data fetcher has read, by its key."""

    fetcher: str
    key: str


@dataclass(frozen=True, slots=True)
class RecordValue:
    """`@record.attribute`: an attribute of the record that the operation is about."""

    attribute: str


DesignedValue: TypeAlias = Literal | Parameter | UserValue | ClaimValue | FetchValue | RecordValue


@dataclass(frozen=True, slots=True)
class DesignedColumn(Column):
    """A column as `ast.Column`. With `user_time_zone`, dates are grouped in the calendar's time zone, else
    in UTC.
    """

    user_time_zone: bool = True


@dataclass(frozen=True, slots=True)
class DesignedCondition:
    """A condition as `ast.Condition`. As `link` in a link's filter, the name of the query's entity means
    that entity.
    """

    attribute: str
    operator: DesignedOperator
    values: tuple[DesignedValue, ...] = ()
    link: str | None = None
    value_of: tuple[str | None, str] | None = None


@dataclass(frozen=True, slots=True)
class DesignedFilter:
    """A filter as `ast.Filter`: all of `items` (and), or any of them (or)."""

    items: tuple[DesignedItem, ...] = ()
    any: bool = False

    @property
    def links(self) -> Iterator[DesignedLink]:
        """Yield the links in this filter and in its groups, but not those inside other links."""
        for item in self.items:
            if isinstance(item, DesignedFilter):
                yield from item.links
            elif isinstance(item, DesignedLink):
                yield item

    @property
    def every_link(self) -> Iterator[DesignedLink]:
        """Yield the links in this filter, and all links inside these."""
        for link in self.links:
            yield link
            yield from link.every_link


@dataclass(frozen=True, slots=True)
class DesignedLink:
    """A link as `ast.Link`. With `all_columns`, every attribute of the entity is selected beside
    `columns`.
    """

    entity: str
    from_attribute: str
    to_attribute: str
    alias: str
    type: LinkType = LinkType.INNER
    columns: tuple[DesignedColumn, ...] = ()
    filter: DesignedFilter | None = None
    links: tuple[DesignedLink, ...] = ()
    all_columns: bool = False

    @property
    def every_link(self) -> Iterator[DesignedLink]:
        """Yield all links inside this link: those in its filter, then its own."""
        return _every_link(self)


DesignedItem: TypeAlias = DesignedCondition | DesignedFilter | DesignedLink


@dataclass(frozen=True, slots=True)
class DesignedQuery:
    """A query as `ast.Query`. `page_size`, `page` and `total` say which `ast.Page` the text asked for.

    `paging_cookie` is where the page before ended, on the platform that the text was saved from. It is kept
    only to write the same text again: the page's number says the same.
    """

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
    page: int = 1
    paging_cookie: str | None = None

    @property
    def is_aggregate(self) -> bool:
        return _aggregates(self)

    @property
    def every_link(self) -> Iterator[DesignedLink]:
        """Yield all links of the query, nested ones and those in filters, too."""
        return _every_link(self)


def _every_link(source: DesignedQuery | DesignedLink) -> Iterator[DesignedLink]:
    """Yield all links inside a query or link: those in its filter, then its own."""
    if source.filter is not None:
        yield from source.filter.every_link
    for link in source.links:
        yield link
        yield from link.every_link


def _aggregates(source: DesignedQuery | DesignedLink) -> bool:
    """Whether a column of the query or of the link, or of a link in it, is grouped or aggregated."""
    has_own = any(column.aggregate is not None or column.group_by for column in source.columns)
    return has_own or any(_aggregates(link) for link in source.links)
