"""Attributes of the platform in the configuration: where each is used, and which the platform lacks now."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crmclient.query.designed import DesignedFilter, DesignedLink, DesignedQuery
from designer.configuration import Configuration, Endpoint
from designer.definitions import EndpointDefinition, ExposedEntityDefinition
from designer.expressions.members import reads
from designer.history.items import ItemKey
from designer.per_endpoint import PerEndpoint
from designer.query_parameters import conditions, conditions_of_filter
from designer.readiness.findings import DRIFT, Finding
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.sentences import Sentence

# The entity's logical name, and the attribute's.
AttributeKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """`user` names the attribute in `place`. `is_safe`: it can be left out there, and no caller reaches more
    records for that, nor is anything left without what it needs.
    """

    user: ItemKey
    place: str
    is_safe: bool = False


# Rules that find an attribute that is not there.
_SAYING = frozenset(
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
_Named: TypeAlias = tuple[AttributeKey, str, bool]
AttributeIndex: TypeAlias = Mapping[AttributeKey, tuple[AttributeUse, ...]]


def attribute_index(configuration: Configuration, users: str) -> AttributeIndex:
    """Every attribute that is named, but for those in the items of lists and in related data, whose entity
    only a relationship tells. `users` is the entity of the platform's users.
    """
    found: defaultdict[AttributeKey, list[AttributeUse]] = defaultdict(list)
    for endpoint, names in _endpoints.of(configuration).values():
        for key, place, is_safe in names:
            found[key].append(AttributeUse(("endpoints", endpoint.definition.key), place, is_safe))
    for exposed in configuration.entities:
        for key, place, is_safe in dict.fromkeys(_of_entity(exposed)):
            found[key].append(AttributeUse(("entities", exposed.key), place, is_safe))
    entities = {type.name: type.records(users) for type in configuration.caller_types}
    for known_property in configuration.user_properties:
        entity = entities.get(known_property.caller_type, "")
        if entity and known_property.kind == "field":
            user = "user_properties", known_property.key
            found[entity, known_property.attribute].append(AttributeUse(user, Sentence("the attribute")))
    return {key: tuple(uses) for key, uses in found.items()}


def missing_attributes(configuration: Configuration, metadata: Metadata) -> AttributeIndex:
    """The attributes that are used, of entities that the platform has, and that it does not have itself."""
    found = {}
    try:
        entities = metadata.entities()
        for (entity, attribute), uses in attribute_index(configuration, metadata.users).items():
            if entity in entities and not _is_there(attribute, entity, metadata):
                found[entity, attribute] = uses
    except MetadataUnavailable:
        return {}
    return found


def names_attributes(definition: EndpointDefinition) -> bool:
    """Whether bindings and columns are attributes of the exposed entity: not parameters, nor a row's keys."""
    settings = definition.settings
    return bool(definition.exposure) and not settings.platform_name and not settings.asks_query


def _is_there(attribute: str, entity: str, metadata: Metadata) -> bool:
    known = metadata.attributes(entity)
    if attribute in known:
        return True
    # In queries the name of a lookup's record is an attribute, too.
    lookup = known.get(attribute.removesuffix("name")) if attribute.endswith("name") else None
    return lookup is not None and lookup.type.is_reference


def _named_by(endpoint: Endpoint) -> tuple[_Named, ...]:
    entity = endpoint.entity.entity if endpoint.entity is not None else ""
    return tuple(dict.fromkeys(_of_endpoint(endpoint.definition, entity)))


_endpoints = PerEndpoint(_named_by)


def _of_endpoint(definition: EndpointDefinition, entity: str) -> Iterator[_Named]:
    if entity:
        yield from _of_record(definition, entity)
    own = definition.settings.designed_query
    if own is not None:
        yield from _of_query(own, Sentence("the query"))
    if root := own.entity if own is not None else entity:
        yield from _of_filter(definition.row_rule, root, Sentence("the row rule"))
    for fetcher in definition.fetchers:
        if fetcher.query is not None:
            place = Sentence("the data fetcher “%(name)s”", name=fetcher.name)
            yield from _of_query(fetcher.query, place, is_safe=False)


def _of_record(definition: EndpointDefinition, entity: str) -> Iterator[_Named]:
    """What the endpoint names of the exposed entity, its queries and filters aside."""
    if attribute := definition.settings.own_attribute:
        yield (entity, attribute), Sentence("the column that it is about"), False
    texts = [(condition.expression, Sentence("a pre-condition")) for condition in definition.preconditions]
    if names_attributes(definition):
        for binding in definition.bindings:
            yield (entity, binding.attribute), Sentence("properties"), True
            if binding.source == "expression":
                texts.append((str(binding.value or ""), Sentence("properties")))
        for column in definition.columns:
            if column.attribute:
                yield (entity, column.attribute), Sentence("the answer"), True
            place = Sentence("the calculated column “%(name)s”", name=column.shown_as)
            texts.append((column.expression, place))
    for text, place in texts:
        for path, _at in reads(text, "record") if text else ():
            if path:
                yield (entity, path[0]), place, False


def _of_entity(exposed: ExposedEntityDefinition) -> Iterator[_Named]:
    for entry in exposed.row_rule:
        yield from _of_filter(entry.filter, exposed.entity, Sentence("the row rule"))


def _of_query(query: DesignedQuery, place: str, *, is_safe: bool = True) -> Iterator[_Named]:
    entities: dict[str | None, str] = {None: query.entity}
    entities |= {link.alias: link.entity for link in query.every_link}
    sources: list[DesignedQuery | DesignedLink] = [query]
    sources += query.every_link
    for source in sources:
        # A query without columns answers nothing.
        for column in source.columns:
            yield (source.entity, column.attribute), place, is_safe and len(query.columns) > 1
    for order in query.orders:
        if order.attribute:
            yield (entities.get(order.link, ""), order.attribute), place, is_safe
    for entity, condition in conditions(query):
        yield (entity, condition.attribute), Sentence("a condition of %(place)s", place=place), False
        yield from _compared(entity, condition.value_of, entities, place)
    yield from _of_links(query.links, query.entity, place)
    for link in query.filter.links if query.filter is not None else ():
        yield from _of_links((link,), query.entity, place)


def _of_filter(filter: DesignedFilter | None, entity: str, place: str) -> Iterator[_Named]:
    if filter is None:
        return
    for standing, condition in conditions_of_filter(filter, None, {None: entity}):
        yield (standing, condition.attribute), place, False
        yield from _compared(standing, condition.value_of, {}, place)
    for link in filter.links:
        yield from _of_links((link,), entity, place)


def _compared(
    entity: str,
    value_of: tuple[str | None, str] | None,
    entities: Mapping[str | None, str],
    place: str,
) -> Iterator[_Named]:
    if value_of is not None:
        link, attribute = value_of
        yield (entity if link is None else entities.get(link, ""), attribute), place, False


def _of_links(links: tuple[DesignedLink, ...], parent: str, place: str) -> Iterator[_Named]:
    for link in links:
        yield (link.entity, link.from_attribute), place, False
        yield (parent, link.to_attribute), place, False
        yield from _of_links(link.links, link.entity, place)


def says_missing(finding: Finding, missing: AttributeIndex) -> bool:
    """Whether a finding only says of one endpoint that a missing attribute is missing."""
    if finding.rule not in _SAYING:
        return False
    words = set(_WORD.findall(str(finding.message)))
    return any(
        attribute in words and any(use.user == ("endpoints", finding.subject) for use in uses)
        for (_entity, attribute), uses in missing.items()
    )
