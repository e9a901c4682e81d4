"""A designed query after metadata: names known, literals typed, everything that is always wrong reported."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from crmclient.metadata import AttributeType, DateTimeBehavior
from crmclient.query.ast import Column, Filter, FilterItem, Link, Query
from crmclient.query.bounds import MOST_COLUMNS, MOST_CONDITIONS, MOST_KEYS
from crmclient.query.calendar import Calendar
from crmclient.query.designed import (
    ClaimValue,
    DesignedColumn,
    DesignedCondition,
    DesignedFilter,
    DesignedLink,
    DesignedQuery,
    DesignedValue,
    FetchValue,
    Parameter,
    RecordValue,
    UserOperator,
    UserValue,
)
from crmclient.query.families import are_comparable, not_comparable
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving.circumstances import Circumstances, Unknown, value_of
from crmclient.query.resolving.conditions import Resolve, Writer
from crmclient.query.resolving.names import Attributes, Names
from crmclient.query.resolving.rows import check_rows
from crmclient.sentences import Sentence

UTC: Final = Calendar()


@dataclass(frozen=True, slots=True)
class Needs:
    """What conditions read of their circumstances, by name.

    `user_values` are properties of the caller, among them `type` and `roles`; `claims` are paths. `fetched`
    are pairs of a data fetcher and a key of its row; `user`: the caller's platform user.
    """

    parameters: frozenset[str] = frozenset()
    user_values: frozenset[str] = frozenset()
    claims: frozenset[str] = frozenset()
    fetched: frozenset[tuple[str, str]] = frozenset()
    record: frozenset[str] = frozenset()
    user: bool = False

    @property
    def fetchers(self) -> frozenset[str]:
        return frozenset(fetcher for fetcher, _ in self.fetched)

    @property
    def of_caller(self) -> bool:
        """Whether anything depends on who calls."""
        return self.user or bool(self.user_values or self.claims)

    def are_met(self, circumstances: Circumstances) -> bool:
        """Whether the caller and the fetchers have a value for each of these; parameters do not count."""
        wanted: list[DesignedValue] = [UserValue(name) for name in self.user_values]
        wanted += [ClaimValue(path) for path in self.claims]
        wanted += [FetchValue(*pair) for pair in self.fetched]
        wanted += [RecordValue(attribute) for attribute in self.record]
        try:
            for value in wanted:
                value_of(value, circumstances)
        except Unknown:
            return False
        return circumstances.user is not None or not self.user

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            self.parameters | other.parameters,
            self.user_values | other.user_values,
            self.claims | other.claims,
            self.fetched | other.fetched,
            self.record | other.record,
            self.user or other.user,
        )


@dataclass(frozen=True, slots=True)
class PreparedFilter:
    """`attributes` are those that its conditions look at, of which there are `conditions`."""

    _resolve: Resolve
    needs: Needs
    attributes: frozenset[str]
    conditions: int

    def resolve(self, circumstances: Circumstances) -> Filter | None:
        """The filter, None when nothing is left of it. Raises InvalidQuery for values that do not fit."""
        item = self._resolve(circumstances)
        return item if item is None or isinstance(item, Filter) else Filter((item,))


@dataclass(frozen=True, slots=True)
class _PreparedLink:
    link: Link
    filter: PreparedFilter | None
    links: tuple[_PreparedLink, ...]

    def resolve(self, circumstances: Circumstances) -> Link:
        return replace(
            self.link,
            filter=None if self.filter is None else self.filter.resolve(circumstances),
            links=tuple(link.resolve(circumstances) for link in self.links),
        )


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """`needs` are those of all its filters."""

    _query: Query
    _filter: PreparedFilter | None
    _links: tuple[_PreparedLink, ...]
    needs: Needs

    def resolve(self, circumstances: Circumstances) -> Query:
        """The query in these circumstances. Raises InvalidQuery for values that do not fit.

        A condition of a parameter that is not given is left out, and so is a group with nothing left in it;
        links stay. A condition that needs more than is known of the caller holds for no row.
        """
        return replace(
            self._query,
            filter=None if self._filter is None else self._filter.resolve(circumstances),
            links=tuple(link.resolve(circumstances) for link in self._links),
        )


def prepare(query: DesignedQuery, attributes: Attributes, calendar: Calendar = UTC) -> PreparedQuery:
    """Raises QueryProblems: every name that does not exist and every literal that does not fit."""
    names = Names.of(query, attributes)
    columns = _columns(query, None, names, calendar)
    filter = _filter(query.filter, None, names, calendar)
    links = tuple(_link(link, None, names, calendar) for link in query.links)
    check_rows(query, names)
    _check_size(query, columns, filter, links, names)
    if names.problems:
        raise QueryProblems(names.problems)
    plain = Query(query.entity, columns, orders=query.orders, distinct=query.distinct, top=query.top)
    needs = Needs()
    for found in (filter, *_filters(links)):
        needs = needs if found is None else needs | found.needs
    return PreparedQuery(plain, filter, links, needs)


def prepare_filter(
    filter: DesignedFilter, entity: str, attributes: Attributes, calendar: Calendar = UTC
) -> PreparedFilter:
    """A filter on one entity, alone. Raises QueryProblems."""
    names = Names(entity, attributes)
    prepared = _filter(filter, None, names, calendar)
    if names.problems or prepared is None:
        raise QueryProblems(names.problems)
    return prepared


def _check_size(
    query: DesignedQuery,
    columns: tuple[Column, ...],
    filter: PreparedFilter | None,
    links: tuple[_PreparedLink, ...],
    names: Names,
) -> None:
    width = len(columns) + sum(len(link.link.columns) for link in _each(links))
    most = MOST_KEYS if query.distinct and not query.is_aggregate else MOST_COLUMNS
    if width > most:
        names.wrong(
            f"entity {query.entity}",
            Sentence("it selects %(count)s columns; at most %(most)s can be", count=width, most=most),
        )
    conditions = sum(found.conditions for found in (filter, *_filters(links)) if found is not None)
    if conditions > MOST_CONDITIONS:
        names.wrong(
            f"entity {query.entity}",
            Sentence(
                "it has %(count)s conditions; at most %(most)s can be", count=conditions, most=MOST_CONDITIONS
            ),
        )


def _each(links: tuple[_PreparedLink, ...]) -> Iterator[_PreparedLink]:
    for link in links:
        yield link
        yield from _each(link.links)


def _link(link: DesignedLink, parent: str | None, names: Names, calendar: Calendar) -> _PreparedLink:
    own = names.attribute(link.alias, link.from_attribute, f"link-entity {link.alias} from")
    theirs = names.attribute(parent, link.to_attribute, f"link-entity {link.alias} to")
    if own is not None and theirs is not None and not are_comparable(own, theirs):
        names.wrong(f"link-entity {link.alias}", not_comparable(own, theirs))
    columns = _columns(link, link.alias, names, calendar)
    plain = Link(link.entity, link.from_attribute, link.to_attribute, link.alias, link.outer, columns)
    return _PreparedLink(
        plain,
        _filter(link.filter, link.alias, names, calendar),
        tuple(_link(nested, link.alias, names, calendar) for nested in link.links),
    )


def _filters(links: tuple[_PreparedLink, ...]) -> Iterator[PreparedFilter | None]:
    return (link.filter for link in _each(links))


def _columns(
    source: DesignedQuery | DesignedLink, alias: str | None, names: Names, calendar: Calendar
) -> tuple[Column, ...]:
    chosen = tuple(_column(column, alias, names, calendar) for column in source.columns)
    if not source.all_columns:
        return chosen
    named = {column.attribute for column in chosen if column.alias is None}
    every = names.all_of(source.entity, f"entity {source.entity}")
    return chosen + tuple(Column(attribute) for attribute in every if attribute not in named)


def _column(column: DesignedColumn, alias: str | None, names: Names, calendar: Calendar) -> Column:
    construct = f"attribute {column.attribute}"
    attribute = names.attribute(alias, column.attribute, construct)
    shifted = attribute is not None and (
        attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.USER_LOCAL
    )
    if column.date_grouping is not None and column.user_time_zone and shifted and not _is_utc(calendar):
        names.wrong(construct, Sentence('dates can be grouped in UTC only: add usertimezone="false"'))
    return Column(
        column.attribute,
        column.alias,
        column.aggregate,
        column.group_by,
        column.date_grouping,
        column.distinct,
    )


def _is_utc(calendar: Calendar) -> bool:
    return calendar.zone is dt.UTC or str(calendar.zone) in {"UTC", "Etc/UTC"}


def _filter(
    group: DesignedFilter | None, standing: str | None, names: Names, calendar: Calendar
) -> PreparedFilter | None:
    if group is None:
        return None
    conditions = list(_conditions(group))
    return PreparedFilter(
        _group(group, Writer(names, calendar, standing)),
        _needs(conditions),
        frozenset(
            name
            for condition in conditions
            for name in (condition.attribute, *((condition.value_of or ())[1:]))
        ),
        len(conditions),
    )


def _needs(conditions: list[DesignedCondition]) -> Needs:
    values: list[DesignedValue] = [value for condition in conditions for value in condition.values]
    return Needs(
        frozenset(value.name for value in values if isinstance(value, Parameter)),
        frozenset(value.name for value in values if isinstance(value, UserValue)),
        frozenset(value.path for value in values if isinstance(value, ClaimValue)),
        frozenset((value.fetcher, value.key) for value in values if isinstance(value, FetchValue)),
        frozenset(value.attribute for value in values if isinstance(value, RecordValue)),
        any(isinstance(condition.operator, UserOperator) for condition in conditions),
    )


def _conditions(group: DesignedFilter) -> Iterator[DesignedCondition]:
    for item in group.items:
        if isinstance(item, DesignedCondition):
            yield item
        else:
            yield from _conditions(item)


def _group(group: DesignedFilter, writer: Writer) -> Resolve:
    prepared = [
        writer.prepare(item) if isinstance(item, DesignedCondition) else _group(item, writer)
        for item in group.items
    ]
    items = [item for item in prepared if item is not None]

    def resolve(circumstances: Circumstances) -> FilterItem | None:
        left = (item(circumstances) for item in items)
        kept = tuple(item for item in left if item is not None)
        return Filter(kept, group.any) if kept else None

    return resolve
