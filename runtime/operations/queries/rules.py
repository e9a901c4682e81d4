"""Row rules in queries: that of the query's own entity always, those of linked ones where it is ticked."""

from __future__ import annotations

from dataclasses import replace

from crmclient import Platform
from crmclient.query.ast import Filter, FilterItem, Link, LinkType, Query
from crmclient.query.designed import DesignedQuery
from designer.configuration import Endpoint
from runtime.request_context import Exchange
from runtime.steps import RowRule, both, rule_of_entity, rule_of_query


class QueryRules:
    """The rules of one query, compiled once. Raises QueryProblems when they do not fit their entities."""

    def __init__(self, endpoint: Endpoint, query: DesignedQuery, platform: Platform, *, linked: bool) -> None:
        self._root = rule_of_query(endpoint, query.entity, platform)
        self._linked: dict[str, RowRule] = {}
        for entity in {link.entity for link in query.every_link} if linked else ():
            rule = rule_of_entity(endpoint, entity, platform)
            if rule is not None:
                self._linked[entity] = rule

    @property
    def fetchers(self) -> frozenset[str]:
        rules = [*self._linked.values(), *([self._root] if self._root else [])]
        return frozenset().union(*(rule.needs.fetchers for rule in rules))

    def applied(self, query: Query, exchange: Exchange) -> Query:
        """Return the query narrowed by the row rules to what the caller reaches."""
        if self._linked:
            query = replace(
                query,
                filter=self._filter(query.filter, exchange),
                links=self._links(query.links, exchange),
            )
        if self._root is not None:
            query = replace(query, filter=both(query.filter, self._root.filter(exchange)))
        return query

    def _links(self, links: tuple[Link, ...], exchange: Exchange) -> tuple[Link, ...]:
        return tuple(self._link(link, exchange) for link in links)

    def _link(self, link: Link, exchange: Exchange) -> Link:
        rule = self._linked.get(link.entity)
        filter = self._filter(link.filter, exchange)
        if rule is not None:
            filter = both(filter, rule.filter(exchange))
        return replace(link, filter=filter, links=self._links(link.links, exchange))

    def _filter(self, filter: Filter | None, exchange: Exchange) -> Filter | None:
        if filter is None:
            return None
        return replace(filter, items=tuple(self._item(item, exchange) for item in filter.items))

    def _item(self, item: FilterItem, exchange: Exchange) -> FilterItem:
        """Return an item of a filter with the row rules of the links in it."""
        match item:
            case Filter():
                return replace(item, items=tuple(self._item(inner, exchange) for inner in item.items))
            case Link(type=LinkType.ALL):
                return self._all(item, exchange)
            case Link():
                return self._link(item, exchange)
        return item

    def _all(self, link: Link, exchange: Exchange) -> FilterItem:
        """Return a link of type "all" that concerns only records that the caller reaches.

        Such a link holds when there are linked records, and none of them meets the filter. A rule inside that
        filter would be denied along with it. So there are two links: some record is reached, and no reached
        record meets the filter.
        """
        rule = self._linked.get(link.entity)
        reached = None if rule is None else rule.filter(exchange)
        if reached is None:
            return self._link(link, exchange)
        some = replace(link, type=LinkType.ANY, alias=f"{link.alias}_some", filter=reached, links=())
        none = self._link(replace(link, type=LinkType.NOT_ANY), exchange)
        return Filter((some, none))
