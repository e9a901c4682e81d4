"""Which entities an endpoint's answers are read from: a write to any of them may have changed them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedLink, DesignedQuery
from designer.configuration import Endpoint
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES

Attributes = Callable[[str], Mapping[str, Attribute]]


def entities_read(endpoint: Endpoint, attributes: Attributes) -> frozenset[str] | None:
    """Return the logical names of the entities; None where it may be any entity.

    A lookup is answered with the name of the record that it points at, so the entities of its targets count,
    too. `attributes` returns the attributes of an entity; its exceptions pass through.
    """
    entities: set[str] = set()
    lookups: list[Attribute] = []
    definition = endpoint.definition
    reaches_records = endpoint.kind.is_on_record or definition.settings.reaches_records
    if endpoint.entity is not None and reaches_records:
        entity = endpoint.entity.entity
        entities.add(entity)
        names = _record_attributes(endpoint)
        lookups += _lookups_among(attributes(entity), names)
    queries = [definition.settings.designed_query, *(fetcher.query for fetcher in definition.fetchers)]
    for query in queries:
        if query is not None:
            for part in _query_and_links(query):
                entities.add(part.entity)
                names = None if part.all_columns else {column.attribute for column in part.columns}
                lookups += _lookups_among(attributes(part.entity), names)
    for lookup in lookups:
        if not lookup.targets:
            return None
        entities |= set(lookup.targets)
    return frozenset(entities)


def _query_and_links(query: DesignedQuery) -> Iterator[DesignedQuery | DesignedLink]:
    """Yield the query itself, and every link in it."""
    yield query
    yield from query.every_link


def _record_attributes(endpoint: Endpoint) -> Collection[str] | None:
    """Return the attributes of the exposed entity's records that are answered or calculated with; None: maybe
    any.
    """
    definition = endpoint.definition
    names = {column.attribute for column in definition.columns if column.attribute}
    texts = [column.expression for column in definition.columns if column.expression]
    texts += [condition.expression for condition in definition.preconditions]
    for text in texts:
        try:
            members = Expression(text, ENDPOINT_NAMES).members("record")
        except ExpressionError:
            return None
        if members is None:
            return None
        names |= members
    return names


def _lookups_among(attributes: Mapping[str, Attribute], names: Collection[str] | None) -> Iterator[Attribute]:
    """Yield those of the attributes `names` that point at records; None: of all attributes."""
    for name, attribute in attributes.items():
        refers_to_records = attribute.type.is_reference or attribute.type.holds_parties
        if refers_to_records and (names is None or name in names):
            yield attribute
