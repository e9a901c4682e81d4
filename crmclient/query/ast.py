"""The nodes of a query. They mirror FetchXML's elements, are frozen, and hold values as values.

Names in nodes are logical names; aliases are unique over the query. Operators carry FetchXML's own names.
Relative date operators and the `eq-user…` family are resolved to values before a platform sees a query
(`designed`, `resolving`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias, get_args

from crmclient.values import Value


class Operator(str, Enum):
    """The operators every platform runs. Each name is FetchXML's."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"
    LIKE = "like"
    NOT_LIKE = "not-like"
    BEGINS_WITH = "begins-with"
    NOT_BEGINS_WITH = "not-begin-with"
    ENDS_WITH = "ends-with"
    NOT_ENDS_WITH = "not-end-with"
    CONTAINS = "contains"
    IN = "in"
    NOT_IN = "not-in"
    BETWEEN = "between"
    NOT_BETWEEN = "not-between"
    NULL = "null"
    NOT_NULL = "not-null"
    CONTAIN_VALUES = "contain-values"
    NOT_CONTAIN_VALUES = "not-contain-values"
    UNDER = "under"
    EQ_OR_UNDER = "eq-or-under"
    NOT_UNDER = "not-under"
    ABOVE = "above"
    EQ_OR_ABOVE = "eq-or-above"
    IN_FISCAL_PERIOD = "in-fiscal-period"


class LinkType(str, Enum):
    """How a link joins. Each name is FetchXML's.

    INNER, OUTER and FIRST give columns. FIRST joins one of the rows that meet, whichever the platform finds
    first. The others only say whether a row of the parent is kept. EXISTS and IN keep a row that an inner
    link would find something for, once. ANY and NOT_ANY keep it where something or nothing is found; ALL
    where rows meet, filter aside, and none of them fulfils the filter; NOT_ALL is ANY by another name. The
    documentation of the platform says so of these two, despite their names.
    """

    INNER = "inner"
    OUTER = "outer"
    FIRST = "matchfirstrowusingcrossapply"
    EXISTS = "exists"
    IN = "in"
    ANY = "any"
    NOT_ANY = "not any"
    ALL = "all"
    NOT_ALL = "not all"

    @property
    def joins(self) -> bool:
        """Whether the linked record is a part of the row, with its columns."""
        return self in _JOINING

    @property
    def stands_in_filter(self) -> bool:
        return self in _IN_FILTERS


_JOINING = frozenset({LinkType.INNER, LinkType.OUTER, LinkType.FIRST})
_IN_FILTERS = frozenset({LinkType.ANY, LinkType.NOT_ANY, LinkType.ALL, LinkType.NOT_ALL})


class Aggregate(str, Enum):
    COUNT = "count"
    COUNT_COLUMN = "countcolumn"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


class DateGrouping(str, Enum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    FISCAL_PERIOD = "fiscal-period"
    FISCAL_YEAR = "fiscal-year"


CalendarPart: TypeAlias = Literal[
    DateGrouping.DAY, DateGrouping.WEEK, DateGrouping.MONTH, DateGrouping.QUARTER, DateGrouping.YEAR
]
FiscalPart: TypeAlias = Literal[DateGrouping.FISCAL_PERIOD, DateGrouping.FISCAL_YEAR]
FISCAL_PARTS: Final = frozenset(get_args(FiscalPart))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the entity or link it stands in. In an aggregate query it has an alias and is either
    grouped or aggregated; `distinct` applies to `countcolumn`."""

    attribute: str
    alias: str | None = None
    aggregate: Aggregate | None = None
    group_by: bool = False
    date_grouping: DateGrouping | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """`attribute operator values`. `link` is the alias of the link whose attribute is meant (FetchXML's
    `entityname`), None for the entity or link the filter stands in. `value_of` compares with another
    attribute: (alias or None, attribute)."""

    attribute: str
    operator: Operator
    values: tuple[Value, ...] = ()
    link: str | None = None
    value_of: tuple[str | None, str] | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A group: all of `items` (and), or any of them (or). An empty group holds for every row.

    A link in a group is of a type that stands in filters.
    """

    items: tuple[FilterItem, ...] = ()
    any: bool = False

    @property
    def links(self) -> Iterator[Link]:
        """Yield the links in this filter and in its groups, but not those inside other links."""
        for item in self.items:
            if isinstance(item, Filter):
                yield from item.links
            elif isinstance(item, Link):
                yield item


@dataclass(frozen=True, slots=True)
class Order:
    """By an attribute of the entity, of the link with alias `link`, or by a column's `alias` in an
    aggregate."""

    attribute: str | None = None
    alias: str | None = None
    link: str | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A join: `from_attribute` of `entity` equals `to_attribute` of the parent.

    Its filter names itself and its parent. Nothing outside of a link that does not join names what is in it.
    """

    entity: str
    from_attribute: str
    to_attribute: str
    alias: str
    type: LinkType = LinkType.INNER
    columns: tuple[Column, ...] = ()
    filter: Filter | None = None
    links: tuple[Link, ...] = ()


FilterItem: TypeAlias = Condition | Filter | Link


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query. `top` cuts the result and excludes paging. What the rows of a query without any column
    hold is left to the platform.
    """

    entity: str
    columns: tuple[Column, ...] = ()
    filter: Filter | None = None
    links: tuple[Link, ...] = ()
    orders: tuple[Order, ...] = ()
    distinct: bool = False
    top: int | None = None

    @property
    def is_aggregate(self) -> bool:
        return _aggregates(self)


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of the result: at most `size` rows (None: all) after `token`; `total` asks for the count.

    Without a token, `number` counts pages of `size` rows from 1: those before it are passed over.
    """

    size: int | None = None
    token: str | None = None
    total: bool = False
    number: int = 1


ALL = Page()


def _aggregates(source: Query | Link) -> bool:
    """Whether a column of the query or of the link, or of a link in it, is grouped or aggregated."""
    has_own = any(column.aggregate is not None or column.group_by for column in source.columns)
    return has_own or any(_aggregates(link) for link in source.links)
