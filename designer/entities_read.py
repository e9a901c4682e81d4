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
    """The entities by logical name; None where it may be any entity.

    Lookups answer the name of the record that they point at, so that its entity counts, too. `attributes`
    gives those of an entity; what it raises passes.
    """
    found: set[str] = set()
    lookups: list[Attribute] = []
    definition = endpoint.definition
    if endpoint.entity is not None and endpoint.kind.is_on_record:
        entity = endpoint.entity.entity
        found.add(entity)
        names = _record_attributes(endpoint)
        lookups += _lookups(attributes(entity), names)
    queries = [definition.settings.designed_query, *(fetcher.query for fetcher in definition.fetchers)]
    for query in queries:
        if query is not None:
            for part in _parts(query):
                found.add(part.entity)
                names = None if part.all_columns else {column.attribute for column in part.columns}
                lookups += _lookups(attributes(part.entity), names)
    for lookup in lookups:
        if not lookup.targets:
            return None
        found |= set(lookup.targets)
    return frozenset(found)


def _parts(query: DesignedQuery) -> Iterator[DesignedQuery | DesignedLink]:
    yield query
    yield from query.every_link


def _record_attributes(endpoint: Endpoint) -> Collection[str] | None:
    """What is answered and calculated of the path's record; None: it may be any attribute."""
    definition = endpoint.definition
    found = {column.attribute for column in definition.columns if column.attribute}
    texts = [column.expression for column in definition.columns if column.expression]
    texts += [condition.expression for condition in definition.preconditions]
    for text in texts:
        try:
            members = Expression(text, ENDPOINT_NAMES).members("record")
        except ExpressionError:
            return None
        if members is None:
            return None
        found |= members
    return found


def _lookups(known: Mapping[str, Attribute], names: Collection[str] | None) -> Iterator[Attribute]:
    for name, attribute in known.items():
        points = attribute.type.is_reference or attribute.type.holds_parties
        if points and (names is None or name in names):
            yield attribute
