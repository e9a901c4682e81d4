"""The platform's entities that a configuration uses."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.query.designed import DesignedFilter, DesignedQuery
from designer.configuration import Configuration
from designer.platform import get_platform


def entities_used(configuration: Configuration) -> frozenset[str]:
    """Return the logical names of the entities that the configuration reads, writes or filters by.

    Entities of related data are not among them: only the metadata tells where a relationship leads.
    """
    entities = {exposure.entity for exposure in configuration.entities}
    row_rules = [entry.filter for exposure in configuration.entities for entry in exposure.row_rule]
    row_rules += [endpoint.definition.row_rule for endpoint in configuration.endpoints.values()]
    for row_rule in row_rules:
        entities.update(entities_linked(row_rule))
    for endpoint in configuration.endpoints.values():
        queries = [endpoint.definition.settings.designed_query]
        queries += [fetcher.query for fetcher in endpoint.definition.fetchers]
        entities.update(name for query in queries if query is not None for name in _entities_of_query(query))
    users = get_platform().conventions.users
    user_entity = users.entity if users is not None else ""
    read = {definition.caller_type for definition in configuration.user_properties}
    entities |= {
        definition.records(user_entity)
        for definition in configuration.caller_types
        if definition.name in read
    } - {""}
    return frozenset(entities)


def entities_linked(row_rule: DesignedFilter | None) -> Iterator[str]:
    """Yield the entities that a row rule links to."""
    if row_rule is not None:
        yield from (link.entity for link in row_rule.every_link)


def _entities_of_query(query: DesignedQuery) -> Iterator[str]:
    """Yield the entity of a query, and those that it links to."""
    yield query.entity
    yield from (link.entity for link in query.every_link)
