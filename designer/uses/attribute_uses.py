"""Where the configuration uses attributes of the platform, and which of them the platform no longer has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from crmclient.query.designed import DesignedFilter, DesignedLink, DesignedQuery
from crmclient.query.lookup_names import lookup_named_by
from designer.configuration import Configuration, Endpoint
from designer.definitions import EndpointDefinition, ExposedEntityDefinition
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.expressions.members import reads_of_name
from designer.history.items import ItemKey
from designer.readiness.findings import DRIFT, Finding
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.sentences import Sentence
from designer.uses.per_endpoint import PerEndpoint

# The entity's logical name, and the attribute's.
AttributeKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """The item `used_by` names the attribute in `place`.

    `is_safe`: the attribute can be left out there. No caller reaches more records then, and nothing lacks
    what it needs.
    """

    used_by: ItemKey
    place: str
    is_safe: bool = False


# Rules that find missing attributes.
_RULES_ABOUT_MISSING = frozenset(
    {
        "attribute-unknown",
        "column-unknown",
        "query-problem",
        "query-order",
        "row-rule",
        "fetcher-query",
        DRIFT,
    }
)
_WORD = re.compile(r"\w+")
AttributeIndex: TypeAlias = Mapping[AttributeKey, tuple[AttributeUse, ...]]


class _Named(NamedTuple):
    """An attribute that an item names at `place`. `is_safe`: it can be left out there."""

    attribute: AttributeKey
    place: str
    is_safe: bool


def attribute_index(configuration: Configuration, users_entity: str) -> AttributeIndex:
    """Return the uses of every attribute. `users_entity` is the entity of the platform's users.

    Attributes in the items of lists and in related data are not included: only a relationship tells their
    entity.
    """
    uses_by_attribute: defaultdict[AttributeKey, list[AttributeUse]] = defaultdict(list)
    for endpoint, names in _endpoints.of(configuration).values():
        for key, place, is_safe in names:
            uses_by_attribute[key].append(
                AttributeUse(("endpoints", endpoint.definition.key), place, is_safe)
            )
    for exposed in configuration.entities:
        for key, place, is_safe in dict.fromkeys(_named_by_entity(exposed)):
            uses_by_attribute[key].append(AttributeUse(("entities", exposed.key), place, is_safe))
    entities = {type.name: type.records(users_entity) for type in configuration.caller_types}
    for user_property in configuration.user_properties:
        entity = entities.get(user_property.caller_type, "")
        if entity and user_property.kind == "field":
            used_by = "user_properties", user_property.key
            uses_by_attribute[entity, user_property.attribute].append(
                AttributeUse(used_by, Sentence("the attribute"))
            )
    return {key: tuple(uses) for key, uses in uses_by_attribute.items()}


def missing_attributes(configuration: Configuration, metadata: Metadata) -> AttributeIndex:
    """Return the uses of attributes that the platform does not have, although it has their entities.

    Empty while the metadata is unavailable.
    """
    uses_by_attribute = {}
    try:
        entities = metadata.entities()
        for (entity, attribute), uses in attribute_index(configuration, metadata.users_entity).items():
            if entity in entities and not _has_attribute(attribute, entity, metadata):
                uses_by_attribute[entity, attribute] = uses
    except MetadataUnavailable:
        return {}
    return uses_by_attribute


def count_items(uses: Iterable[AttributeUse]) -> int:
    """Return the number of different items with these uses. One item may name an attribute in many places."""
    return len({use.used_by for use in uses})


def is_there(attribute: str, entity: str, metadata: Metadata) -> bool | None:
    """Whether the platform has an attribute; None while it does not say it."""
    try:
        return entity in metadata.entities() and _has_attribute(attribute, entity, metadata)
    except MetadataUnavailable:
        return None


def names_attributes(definition: EndpointDefinition) -> bool:
    """Whether bindings and columns name attributes of the exposed entity, not parameters or keys of a row."""
    settings = definition.settings
    return bool(definition.exposure) and not settings.platform_name and not settings.asks_query


def _has_attribute(attribute: str, entity: str, metadata: Metadata) -> bool:
    """Whether the platform has an attribute, or a lookup that this name belongs to. Raises
    MetadataUnavailable.
    """
    attributes = metadata.attributes(entity)
    return attribute in attributes or lookup_named_by(attribute, attributes) is not None


def _attributes_named_by(endpoint: Endpoint) -> tuple[_Named, ...]:
    """Return every attribute that an endpoint names, without repetitions."""
    entity = endpoint.entity.entity if endpoint.entity is not None else ""
    return tuple(dict.fromkeys(_named_by_definition(endpoint.definition, entity)))


_endpoints = PerEndpoint(_attributes_named_by)


def _named_by_definition(definition: EndpointDefinition, entity: str) -> Iterator[_Named]:
    """Yield every attribute that an endpoint names, with the place. `entity` is that of its record."""
    if entity:
        yield from _named_for_record(definition, entity)
    designed_query = definition.settings.designed_query
    if designed_query is not None:
        yield from _named_by_query(designed_query, Sentence("the query"))
    if root := designed_query.entity if designed_query is not None else entity:
        yield from _named_by_filter(definition.row_rule, root, Sentence("the row rule"))
    for fetcher in definition.fetchers:
        if fetcher.query is not None:
            place = Sentence("the data fetcher “%(name)s”", name=fetcher.name)
            yield from _named_by_query(fetcher.query, place, is_safe=False)


def _named_for_record(definition: EndpointDefinition, entity: str) -> Iterator[_Named]:
    """Yield the attributes of the exposed entity that the endpoint names outside queries and filters."""
    for attribute in definition.settings.own_attributes:
        yield _Named((entity, attribute), Sentence("the column that it is about"), is_safe=False)
    texts = [(condition.expression, Sentence("a pre-condition")) for condition in definition.preconditions]
    if names_attributes(definition):
        for binding in definition.bindings:
            yield _Named((entity, binding.attribute), Sentence("properties"), is_safe=True)
            if binding.source == "expression":
                texts.append((str(binding.value or ""), Sentence("properties")))
        for column in definition.columns:
            if column.attribute:
                yield _Named((entity, column.attribute), Sentence("the answer"), is_safe=True)
            place = Sentence("the calculated column “%(name)s”", name=column.shown_as)
            texts.append((column.expression, place))
    for text, place in texts:
        for path, _at in reads_of_name(text, "record") if text else ():
            if path:
                yield _Named((entity, path[0]), place, is_safe=False)


def _named_by_entity(exposed: ExposedEntityDefinition) -> Iterator[_Named]:
    """Yield the attributes that the row rule of an exposed entity names."""
    for entry in exposed.row_rule:
        yield from _named_by_filter(entry.filter, exposed.entity, Sentence("the row rule"))


def _named_by_query(query: DesignedQuery, place: str, *, is_safe: bool = True) -> Iterator[_Named]:
    """Yield the attributes that a query names in columns, orders, conditions and links.

    `is_safe`: columns and orders can be left out of it.
    """
    entities: dict[str | None, str] = {None: query.entity}
    entities |= {link.alias: link.entity for link in query.every_link}
    sources: list[DesignedQuery | DesignedLink] = [query]
    sources += query.every_link
    for source in sources:
        # The last column of a query cannot be left out: without columns, it answers nothing.
        for column in source.columns:
            yield _Named((source.entity, column.attribute), place, is_safe=is_safe and len(query.columns) > 1)
    for order in query.orders:
        if order.attribute:
            yield _Named((entities.get(order.link, ""), order.attribute), place, is_safe=is_safe)
    for entity, condition in conditions(query):
        yield _Named(
            (entity, condition.attribute), Sentence("a condition of %(place)s", place=place), is_safe=False
        )
        yield from _named_by_comparison(entity, condition.value_of, entities, place)
    yield from _named_by_links(query.links, query.entity, place)
    for link in query.filter.links if query.filter is not None else ():
        yield from _named_by_links((link,), query.entity, place)


def _named_by_filter(filter: DesignedFilter | None, entity: str, place: str) -> Iterator[_Named]:
    """Yield the attributes that a filter names, and those of the links in it. None is safe to leave out:
    without the condition, callers would reach more records.
    """
    if filter is None:
        return
    for condition_entity, condition in conditions_of_filter(filter, None, {None: entity}):
        yield _Named((condition_entity, condition.attribute), place, is_safe=False)
        yield from _named_by_comparison(condition_entity, condition.value_of, {}, place)
    for link in filter.links:
        yield from _named_by_links((link,), entity, place)


def _named_by_comparison(
    entity: str,
    value_of: tuple[str | None, str] | None,
    entities: Mapping[str | None, str],
    place: str,
) -> Iterator[_Named]:
    """Yield the attribute that a condition compares with, if it compares with one."""
    if value_of is not None:
        link, attribute = value_of
        yield _Named((entity if link is None else entities.get(link, ""), attribute), place, is_safe=False)


def _named_by_links(links: tuple[DesignedLink, ...], parent: str, place: str) -> Iterator[_Named]:
    """Yield the two attributes by which each link joins its entity to `parent`, and so
    for links inside it.
    """
    for link in links:
        yield _Named((link.entity, link.from_attribute), place, is_safe=False)
        yield _Named((parent, link.to_attribute), place, is_safe=False)
        yield from _named_by_links(link.links, link.entity, place)


def says_missing(finding: Finding, missing: AttributeIndex) -> bool:
    """Whether a finding about an endpoint only repeats that an attribute is missing.

    A finding does not hold the name of its attribute, so the name is looked for in its message.
    """
    if finding.rule not in _RULES_ABOUT_MISSING:
        return False
    words = set(_WORD.findall(str(finding.message)))
    return any(
        attribute in words and any(use.used_by == ("endpoints", finding.subject) for use in uses)
        for (_entity, attribute), uses in missing.items()
    )
