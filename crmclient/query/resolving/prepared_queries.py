"""Prepared queries and filters: checked against the metadata, and resolved once for each request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crmclient.query.ast import Filter, Link, Query
from crmclient.query.designed import (
    ClaimValue,
    DesignedValue,
    FetchValue,
    RecordValue,
    UserValue,
)
from crmclient.query.resolving.circumstances import Circumstances, Unknown, value_of
from crmclient.query.resolving.conditions import Resolve


@dataclass(frozen=True, slots=True)
class Needs:
    """The circumstances that conditions read, by name.

    `user_values` are properties of the caller, among them `type` and `roles`; `claims` are paths. `fetched`
    are pairs of a data fetcher and a key of its row. `record` are attributes of the record in the path.
    `user` is the caller's platform user.
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
        values: list[DesignedValue] = [UserValue(name) for name in self.user_values]
        values += [ClaimValue(path) for path in self.claims]
        values += [FetchValue(*pair) for pair in self.fetched]
        values += [RecordValue(attribute) for attribute in self.record]
        try:
            for value in values:
                value_of(value, circumstances)
        except Unknown:
            return False
        return circumstances.user is not None or not self.user

    def __or__(self, other: Needs) -> Needs:
        """Return what both need together."""
        return Needs(
            parameters=self.parameters | other.parameters,
            user_values=self.user_values | other.user_values,
            claims=self.claims | other.claims,
            fetched=self.fetched | other.fetched,
            record=self.record | other.record,
            user=self.user or other.user,
        )


@dataclass(frozen=True, slots=True)
class PreparedFilter:
    """A filter that is checked against the metadata.

    `attributes` are those of its own entity or link that it reads; `conditions` is the number of conditions.
    """

    _resolve: Resolve
    needs: Needs
    attributes: frozenset[str]
    conditions: int

    def resolve(self, circumstances: Circumstances) -> Filter | None:
        """Return the filter in these circumstances; None when nothing is left of it.

        Raises InvalidQuery for values that do not fit.
        """
        item = self._resolve(circumstances)
        return item if item is None or isinstance(item, Filter) else Filter((item,))


@dataclass(frozen=True, slots=True)
class PreparedLink:
    """`conditions` counts those of its filter and of the links in it; `needs` are those of all of them."""

    link: Link
    filter: PreparedFilter | None
    links: tuple[PreparedLink, ...]

    @property
    def needs(self) -> Needs:
        """What the conditions of the link's filter, and of the links in it, need."""
        all_needs = Needs() if self.filter is None else self.filter.needs
        for link in self.links:
            all_needs |= link.needs
        return all_needs

    @property
    def conditions(self) -> int:
        """The number of conditions in the link's filter, and in the links in it."""
        conditions_of_filter = 0 if self.filter is None else self.filter.conditions
        return conditions_of_filter + sum(link.conditions for link in self.links)

    def resolve(self, circumstances: Circumstances) -> Link:
        """Return the link in these circumstances. Raises InvalidQuery, and Unknown inside a denying link."""
        return replace(
            self.link,
            filter=None if self.filter is None else self.filter.resolve(circumstances),
            links=tuple(link.resolve(circumstances) for link in self.links),
        )


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query that is checked against the metadata. `needs` are those of all its filters."""

    _query: Query
    _filter: PreparedFilter | None
    _links: tuple[PreparedLink, ...]
    needs: Needs

    def resolve(self, circumstances: Circumstances) -> Query:
        """Return the query in these circumstances. Raises InvalidQuery for values that do not fit.

        A condition on a parameter that is not given is left out, and so is a group without conditions; links
        stay. A condition that needs an unknown value of the caller holds for no row.
        """
        return replace(
            self._query,
            filter=None if self._filter is None else self._filter.resolve(circumstances),
            links=tuple(link.resolve(circumstances) for link in self._links),
        )
