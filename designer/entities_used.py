"""The platform's entities that a configuration uses."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.query.designed import DesignedQuery
from designer.configuration import Configuration
from designer.platform import get_platform


def entities_used(configuration: Configuration) -> frozenset[str]:
    """Logical names of the entities that the configuration reads or writes."""
    entities = {exposure.entity for exposure in configuration.entities}
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


def _entities_of_query(query: DesignedQuery) -> Iterator[str]:
    yield query.entity
    yield from (link.entity for link in query.every_link)
