"""Which entities an endpoint's answers are read from: a write to any of them may have changed them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedCondition, DesignedLink, DesignedQuery
from crmclient.query.families import OF_RECORDS_HIERARCHY
from crmclient.query.patterns import MATCHING
from designer.configuration import Endpoint
from designer.endpoint_facts.applied_row_rules import applied_entries
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES

Attributes = Callable[[str], Mapping[str, Attribute]]
# The operators by which a condition on a lookup depends on other records: on their names, or on what stands
# above them.
_READ_TARGETS: Final = MATCHING | OF_RECORDS_HIERARCHY


def entities_read(endpoint: Endpoint, attributes: Attributes) -> frozenset[str] | None:
    """Return the logical names of the entities; None where it may be any entity.

    Beside what is answered, that is what decides whether a record is found: what row rules link to. A lookup
    is answered with the name of the record that it points at, compared with it by patterns and sorted by it,
    so the entities of its targets count, too. `attributes` returns the attributes of an entity; its
    exceptions pass through.
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
            for entity, name in _sorted_attributes(query):
                lookups += _lookups_among(attributes(entity), {name})
            lookups += _lookups_compared(conditions(query), attributes)
    for _place, entity, entry in applied_entries(endpoint):
        if entry.filter is not None:
            entities |= {link.entity for link in entry.filter.every_link}
            compared = conditions_of_filter(entry.filter, None, {None: entity, entity: entity})
            lookups += _lookups_compared(compared, attributes)
    for lookup in lookups:
        if not lookup.targets:
            return None
        entities |= set(lookup.targets)
    return frozenset(entities)


def _query_and_links(query: DesignedQuery) -> Iterator[DesignedQuery | DesignedLink]:
    """Yield the query itself, and every link in it."""
    yield query
    yield from query.every_link


def _sorted_attributes(query: DesignedQuery) -> Iterator[tuple[str, str]]:
    """Yield each attribute that the query sorts by, after its entity. One that callers may choose is also a
    column.
    """
    entities: dict[str | None, str] = {None: query.entity}
    entities |= {link.alias: link.entity for link in query.every_link}
    for order in query.orders:
        if order.attribute is not None and order.link in entities:
            yield entities[order.link], order.attribute


def _lookups_compared(
    placed: Iterable[tuple[str, DesignedCondition]], attributes: Attributes
) -> Iterator[Attribute]:
    """Yield the lookups whose conditions depend on the records that they point at. Each condition has the
    entity of its attribute before it; empty where it is not known.
    """
    for entity, condition in placed:
        # With an unknown alias, the endpoint is not served.
        if condition.operator in _READ_TARGETS and entity:
            yield from _lookups_among(attributes(entity), {condition.attribute})


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
