"""Row rules in queries: that of the query's own entity always, those of linked ones where it is ticked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crmclient import Platform
from crmclient.query.ast import Link, Query
from crmclient.query.designed import DesignedLink, DesignedQuery
from designer.configuration import Endpoint
from runtime.request_context import Exchange
from runtime.steps import RowRule, both, rule_of_entity, rule_of_query


class QueryRules:
    """The rules of one query, compiled once. Raises QueryProblems when they do not fit their entities."""

    def __init__(self, endpoint: Endpoint, query: DesignedQuery, platform: Platform, *, linked: bool) -> None:
        self._root = rule_of_query(endpoint, query.entity, platform)
        self._linked: dict[str, RowRule] = {}
        for entity in set(_entities(query.links)) if linked else ():
            rule = rule_of_entity(endpoint, entity, platform)
            if rule is not None:
                self._linked[entity] = rule

    @property
    def fetchers(self) -> frozenset[str]:
        rules = [*self._linked.values(), *([self._root] if self._root else [])]
        return frozenset().union(*(rule.needs.fetchers for rule in rules))

    def applied(self, query: Query, exchange: Exchange) -> Query:
        """The query over what the caller reaches."""
        if self._root is not None:
            query = replace(query, filter=both(query.filter, self._root.filter(exchange)))
        if self._linked:
            query = replace(query, links=self._links(query.links, exchange))
        return query

    def _links(self, links: tuple[Link, ...], exchange: Exchange) -> tuple[Link, ...]:
        return tuple(self._link(link, exchange) for link in links)

    def _link(self, link: Link, exchange: Exchange) -> Link:
        rule = self._linked.get(link.entity)
        filter = link.filter if rule is None else both(link.filter, rule.filter(exchange))
        return replace(link, filter=filter, links=self._links(link.links, exchange))


def _entities(links: tuple[DesignedLink, ...]) -> Iterator[str]:
    for link in links:
        yield link.entity
        yield from _entities(link.links)
