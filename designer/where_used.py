"""Where an item of the configuration is used: which others name it, and in which of their places.

What is said is found in the definitions alone, and of an endpoint again only where that has changed. Parts
above this one tell what they keep with `register`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crmclient.query.designed import DesignedFilter, DesignedQuery, UserValue
from designer.configuration import Configuration, Endpoint
from designer.definitions import (
    EndpointDefinition,
    ExposedEntityDefinition,
    InputDefinition,
    IssuerDefinition,
    UserPropertyDefinition,
)
from designer.expressions.members import reads
from designer.history.items import ItemKey
from designer.names import property_key
from designer.per_endpoint import PerEndpoint
from designer.query_parameters import conditions, conditions_of_filter
from designer.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Use:
    """`user` names the item in `place`. `permission`: who may see that; empty: whoever sees the item."""

    user: ItemKey
    place: str
    permission: str = ""


# What an item is named in, by its key.
Index: TypeAlias = Mapping[ItemKey, tuple[Use, ...]]
_Named: TypeAlias = tuple[ItemKey, str]
Finder: TypeAlias = Callable[[ItemKey], Iterable[Use]]

_finders: list[Finder] = []


def register(finder: Finder) -> Finder:
    """Have `finder` asked, too, where an item is used: it may read rows."""
    _finders.append(finder)
    return finder


def uses_of(item: ItemKey, configuration: Configuration) -> list[Use]:
    """Every use, those in the configuration first."""
    found = list(_index_of(configuration).get(item, ()))
    for finder in _finders:
        found += finder(item)
    return found


def _index_of(configuration: Configuration) -> Index:
    """What each item of the configuration is named in."""
    found: defaultdict[ItemKey, dict[Use, None]] = defaultdict(dict)
    for endpoint, names in _endpoints.of(configuration).values():
        for item, place in names:
            found[item][Use(("endpoints", endpoint.definition.key), place)] = None
    for user, others in _others(configuration):
        for item, place in others:
            found[item][Use(user, place)] = None
    return {item: tuple(uses) for item, uses in found.items()}


def _others(configuration: Configuration) -> Iterator[tuple[ItemKey, Iterable[_Named]]]:
    types = [type.name for type in configuration.caller_types]
    for exposed in configuration.entities:
        yield ("entities", exposed.key), _of_entity(exposed, types)
    for known in configuration.user_properties:
        yield ("user_properties", known.key), _of_property(known)
    for issuer in configuration.issuers:
        yield ("issuers", issuer.name), _of_issuer(issuer)


def _named_by(endpoint: Endpoint) -> tuple[_Named, ...]:
    return tuple(dict.fromkeys(_of_endpoint(endpoint.definition)))


_endpoints = PerEndpoint(_named_by)


def _of_endpoint(definition: EndpointDefinition) -> Iterator[_Named]:
    access = definition.access
    types = access.caller_types if access.authentication_required else ()
    if definition.module:
        yield ("modules", definition.module), Sentence("the path")
    if definition.exposure:
        yield ("entities", f"{definition.module}.{definition.exposure}"), Sentence("the entity")
    if related := definition.settings.related_segment:
        yield ("entities", f"{definition.module}.{related}"), Sentence("the related entity")
    for role in access.roles:
        yield ("roles", role), Sentence("access control")
    for type in types:
        yield ("caller_types", type), Sentence("access control")
    for call in definition.example_calls:
        place = Sentence("the example call “%(name)s”", name=call.name)
        for role in (*call.roles, *call.refused_for):
            yield ("roles", role), place
        if not call.anonymous:
            yield ("caller_types", call.caller_type), place
    for name, where in _properties_of_endpoint(definition):
        for type in types:
            yield ("user_properties", property_key(type, name)), where


def _properties_of_endpoint(definition: EndpointDefinition) -> Iterator[tuple[str, str]]:
    yield from _properties_of_bindings(definition.inputs, definition)
    for column in definition.columns:
        for name in _read(column.expression):
            yield name, Sentence("the calculated column “%(name)s”", name=column.shown_as)
    for condition in definition.preconditions:
        for name in _read(condition.expression):
            yield name, Sentence("a pre-condition")
    for name in _of_query(definition.settings.designed_query):
        yield name, Sentence("the query")
    for name in _of_filter(definition.row_rule):
        yield name, Sentence("the row rule")
    for fetcher in definition.fetchers:
        for name in _of_query(fetcher.query):
            yield name, Sentence("the data fetcher “%(name)s”", name=fetcher.name)


def _properties_of_bindings(
    inputs: Iterable[InputDefinition], holder: EndpointDefinition | InputDefinition
) -> Iterator[tuple[str, str]]:
    for binding in holder.bindings:
        place = Sentence("the property “%(attribute)s”", attribute=binding.attribute)
        if binding.source == "user":
            yield str(binding.value), place
        elif binding.source == "expression":
            for name in _read(str(binding.value or "")):
                yield name, place
    for one in inputs:
        yield from _properties_of_bindings(one.inputs, one)


def _of_entity(exposed: ExposedEntityDefinition, types: Iterable[str]) -> Iterator[_Named]:
    yield ("modules", exposed.module), Sentence("the module")
    for entry in exposed.row_rule:
        for role in entry.roles:
            yield ("roles", role), Sentence("the row rule")
        for name in _of_filter(entry.filter):
            for type in types:
                yield ("user_properties", property_key(type, name)), Sentence("the row rule")


def _of_property(known: UserPropertyDefinition) -> Iterator[_Named]:
    yield ("caller_types", known.caller_type), Sentence("the caller type")
    for name in _read(known.expression):
        yield ("user_properties", property_key(known.caller_type, name)), Sentence("the expression")


def _of_issuer(issuer: IssuerDefinition) -> Iterator[_Named]:
    yield ("caller_types", issuer.record.type), Sentence("the record")
    for role in issuer.roles:
        yield ("roles", role), Sentence("the roles of every caller")
    for rule in issuer.role_rules:
        for grant in rule.grants:
            yield ("roles", grant.role), Sentence("the role rule “%(claim)s”", claim=rule.claim)
    if issuer.record.registration.endpoint:
        yield ("endpoints", issuer.record.registration.endpoint), Sentence("the registration of callers")


def _of_query(query: DesignedQuery | None) -> Iterator[str]:
    for _entity, condition in conditions(query) if query is not None else ():
        yield from (value.name for value in condition.values if isinstance(value, UserValue))


def _of_filter(filter: DesignedFilter | None) -> Iterator[str]:
    for _entity, condition in conditions_of_filter(filter, None, {}):
        yield from (value.name for value in condition.values if isinstance(value, UserValue))


def _read(expression: str) -> Iterator[str]:
    """The properties of the caller that an expression reads."""
    for path, _at in reads(expression, "user") if expression else ():
        if path:
            yield path[0]
