"""Which entities an endpoint's answers are read from: a write to any of them may have changed them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedCondition, DesignedLink, DesignedQuery
from crmclient.query.families import OF_RECORDS_HIERARCHY
from crmclient.query.lookup_names import lookup_named_by
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
            aliases = _entities_by_alias(query.entity, query.every_link)
            for order in query.orders:
                # An order without an attribute is by the alias of a column.
                if order.attribute is not None and order.link in aliases:
                    lookups += _lookups_among(attributes(aliases[order.link]), {order.attribute})
            lookups += _lookups_compared(conditions(query), aliases, attributes)
    for _place, entity, entry in applied_entries(endpoint):
        if entry.filter is not None:
            entities |= {link.entity for link in entry.filter.every_link}
            aliases = _entities_by_alias(entity, entry.filter.every_link)
            compared = conditions_of_filter(entry.filter, None, aliases)
            lookups += _lookups_compared(compared, aliases, attributes)
    for lookup in lookups:
        if not lookup.targets:
            return None
        entities |= set(lookup.targets)
    return frozenset(entities)


def _query_and_links(query: DesignedQuery) -> Iterator[DesignedQuery | DesignedLink]:
    """Yield the query itself, and every link in it."""
    yield query
    yield from query.every_link


def _entities_by_alias(root: str, links: Iterable[DesignedLink]) -> dict[str | None, str]:
    """Return the entity of each alias of a query or filter of the entity `root`, which has None and its own
    name.
    """
    return {None: root, root: root, **{link.alias: link.entity for link in links}}


def _lookups_compared(
    placed: Iterable[tuple[str, DesignedCondition]],
    aliases: Mapping[str | None, str],
    attributes: Attributes,
) -> Iterator[Attribute]:
    """Yield the lookups whose conditions depend on the records that they point at.

    Each condition has the entity of its attribute before it; empty where it is not known. `aliases` are the
    entities by alias.
    """
    for entity, condition in placed:
        # With an unknown alias, the endpoint is not served.
        if not entity:
            continue
        of_entity = attributes(entity)
        if condition.operator in _READ_TARGETS or condition.attribute not in of_entity:
            yield from _lookups_among(of_entity, {condition.attribute})
        if condition.value_of is not None:
            alias, other = condition.value_of
            of_other = of_entity if alias is None else attributes(aliases.get(alias, entity))
            if other not in of_other:
                yield from _lookups_among(of_other, {other})


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
    """Yield those of the attributes `names` that point at records; None: of all attributes. The name of a
    lookup's record, such as `customeridname`, stands for the lookup.
    """
    for name, attribute in attributes.items():
        refers_to_records = attribute.type.is_reference or attribute.type.holds_parties
        if refers_to_records and (names is None or name in names):
            yield attribute
    for name in names or ():
        lookup = lookup_named_by(name, attributes)
        if lookup is not None:
            yield lookup
