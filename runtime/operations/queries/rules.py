"""Row rules in queries: that of the query's own entity always, those of linked ones where it is ticked."""

from __future__ import annotations

from dataclasses import replace

from crmclient import Platform
from crmclient.query.ast import Filter, FilterItem, Link, LinkType, Query
from crmclient.query.designed import DesignedQuery
from designer.configuration import Endpoint
from runtime.request_context import Exchange
from runtime.steps import RowRule, both, narrowed, rule_of_entity, rule_of_query
from runtime.steps.link_aliases import aliases_of, free_alias, with_free_aliases


class QueryRules:
    """The row rules of one query, compiled once: of its own entity and, with `linked`, of linked entities.

    Raises QueryProblems when a rule does not fit its entity.
    """

    def __init__(self, endpoint: Endpoint, query: DesignedQuery, platform: Platform, *, linked: bool) -> None:
        self._root = rule_of_query(endpoint, query.entity, platform)
        self._linked: dict[str, RowRule] = {}
        for entity in {link.entity for link in query.every_link} if linked else ():
            rule = rule_of_entity(endpoint, entity, platform)
            if rule is not None:
                self._linked[entity] = rule

    @property
    def fetchers(self) -> frozenset[str]:
        """The names of the data fetchers that the rules compare with."""
        rules = [*self._linked.values(), *([self._root] if self._root else [])]
        return frozenset().union(*(rule.needs.fetchers for rule in rules))

    def applied(self, query: Query, exchange: Exchange) -> Query:
        """Return the query narrowed by the row rules to what the caller reaches."""
        if self._linked:
            aliases = aliases_of(query)
            query = replace(
                query,
                filter=self._narrowed_filter(query.filter, exchange, aliases),
                links=self._narrowed_links(query.links, exchange, aliases),
            )
        return query if self._root is None else narrowed(query, self._root.filter(exchange))

    def _narrowed_links(
        self, links: tuple[Link, ...], exchange: Exchange, aliases: set[str]
    ) -> tuple[Link, ...]:
        """Return the links, narrowed by the row rules of their entities.

        Here and below, `aliases` are those that are taken: what is added adds its own.
        """
        return tuple(self._narrowed_link(link, exchange, aliases) for link in links)

    def _narrowed_link(self, link: Link, exchange: Exchange, aliases: set[str]) -> Link:
        """Return a link with the links in it, narrowed by the row rules of their entities."""
        rule = self._linked.get(link.entity)
        filter = self._narrowed_filter(link.filter, exchange, aliases)
        if rule is not None:
            filter = both(filter, with_free_aliases(rule.filter(exchange), aliases))
        return replace(link, filter=filter, links=self._narrowed_links(link.links, exchange, aliases))

    def _narrowed_filter(self, filter: Filter | None, exchange: Exchange, aliases: set[str]) -> Filter | None:
        """Return a filter in which every link is narrowed by the row rule of its entity."""
        if filter is None:
            return None
        return replace(
            filter, items=tuple(self._narrowed_item(item, exchange, aliases) for item in filter.items)
        )

    def _narrowed_item(self, item: FilterItem, exchange: Exchange, aliases: set[str]) -> FilterItem:
        """Return an item of a filter with the row rules of the links in it."""
        match item:
            case Filter():
                return replace(
                    item, items=tuple(self._narrowed_item(inner, exchange, aliases) for inner in item.items)
                )
            case Link(type=LinkType.ALL):
                return self._narrowed_all_link(item, exchange, aliases)
            case Link():
                return self._narrowed_link(item, exchange, aliases)
        return item

    def _narrowed_all_link(self, link: Link, exchange: Exchange, aliases: set[str]) -> FilterItem:
        """Return a link of type "all" that concerns only records that the caller reaches.

        Such a link holds when there are linked records, and none of them meets the filter. A rule inside that
        filter would be denied along with it. So there are two links: some record is reached, and no reached
        record meets the filter.
        """
        rule = self._linked.get(link.entity)
        reached = None if rule is None else rule.filter(exchange)
        if reached is None:
            return self._narrowed_link(link, exchange, aliases)
        some = replace(
            link,
            type=LinkType.ANY,
            alias=free_alias(f"{link.alias}_some", aliases),
            filter=with_free_aliases(reached, aliases),
            links=(),
        )
        none = self._narrowed_link(replace(link, type=LinkType.NOT_ANY), exchange, aliases)
        return Filter((some, none))
