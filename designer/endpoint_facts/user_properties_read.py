"""Which user properties an endpoint reads, and in which of its places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, TypeAlias

from crmclient.query.designed import DesignedCondition, DesignedFilter, DesignedQuery, UserValue
from designer.configuration import Endpoint
from designer.definitions import (
    BindingDefinition,
    EndpointDefinition,
    InputDefinition,
    UserPropertyDefinition,
)
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.endpoint_facts.reached_entities import exposures_read
from designer.expressions.members import reads_of_name
from designer.sentences import Sentence

# The name where an expression uses `user` as a whole, as in `user["email"]`: it may read any property.
ANY: Final = ""
# The name of a user property, and the place that reads it.
PropertyInPlace: TypeAlias = tuple[str, str]


def reads_property(
    endpoint: Endpoint,
    user_property: UserPropertyDefinition,
    all_properties: Iterable[UserPropertyDefinition],
) -> bool:
    """Whether the endpoint may answer otherwise once `user_property` gives another value.

    It reads the property itself, in the row rule of an entity that it reaches, or by a custom property among
    `all_properties`.
    """
    access = endpoint.definition.access
    # Without a required token, callers of every type are admitted.
    if access.authentication_required and user_property.caller_type not in access.caller_types:
        return False
    names = _dependent_names(user_property, all_properties)
    return any(name == ANY or name in names for name in names_read(endpoint))


def names_read(endpoint: Endpoint) -> Iterator[str]:
    """Yield the names of the user properties that the endpoint reads, itself or in the row rule of an entity
    that it reaches; `ANY` for an unknown one. `type`, `roles` and `claims` are among them.
    """
    for name, _place in properties_in_endpoint(endpoint.definition):
        yield name
    for exposed in exposures_read(endpoint):
        for entry in exposed.row_rule:
            yield from properties_in_filter(entry.filter)


def properties_in_endpoint(definition: EndpointDefinition) -> Iterator[PropertyInPlace]:
    """Yield the user properties that the definition itself reads; `ANY` for an unknown one."""
    for binding in _all_bindings(definition):
        # A draft may have no value yet.
        if binding.source == "user" and binding.value is not None:
            yield str(binding.value), _place_of_binding(binding)
    for expression, place in expressions_in_endpoint(definition):
        for name in properties_in_expression(expression):
            yield name, place
    for name in _properties_in_query(definition.settings.designed_query):
        yield name, Sentence("the query")
    for name in properties_in_filter(definition.row_rule):
        yield name, Sentence("the row rule")
    for fetcher in definition.fetchers:
        for name in _properties_in_query(fetcher.query):
            yield name, Sentence("the data fetcher “%(name)s”", name=fetcher.name)


def expressions_in_endpoint(definition: EndpointDefinition) -> Iterator[tuple[str, Sentence]]:
    """Yield each expression of an endpoint, with its place."""
    for binding in _all_bindings(definition):
        if binding.source == "expression" and binding.value:
            yield str(binding.value), _place_of_binding(binding)
    for column in definition.columns:
        if column.expression:
            yield column.expression, Sentence("the calculated column “%(name)s”", name=column.shown_as)
    for condition in definition.preconditions:
        yield condition.expression, Sentence("a pre-condition")


def properties_in_filter(filter: DesignedFilter | None) -> Iterator[str]:
    """Yield the names of the user properties that a filter compares with."""
    # Without entities of aliases: which entity a condition is about makes no difference here.
    yield from _properties_in_conditions(conditions_of_filter(filter, None, {}))


def properties_in_expression(expression: str) -> Iterator[str]:
    """Yield the names of the user properties that an expression reads; `ANY` for an unknown one."""
    for path, _at in reads_of_name(expression, "user") if expression else ():
        yield path[0] if path else ANY


def _dependent_names(
    user_property: UserPropertyDefinition, all_properties: Iterable[UserPropertyDefinition]
) -> Collection[str]:
    """Return the name of the property, and those of the custom properties that read it."""
    # Custom properties do not see each other, so there are no longer chains.
    readers = {
        other.name
        for other in all_properties
        if other.kind == "custom"
        and other.caller_type == user_property.caller_type
        and not {ANY, user_property.name}.isdisjoint(properties_in_expression(other.expression))
    }
    return {user_property.name, *readers}


def _all_bindings(holder: EndpointDefinition | InputDefinition) -> Iterator[BindingDefinition]:
    """Yield the bindings of an endpoint, and those of records that its inputs hold."""
    yield from holder.bindings
    for input_definition in holder.inputs:
        yield from _all_bindings(input_definition)


def _place_of_binding(binding: BindingDefinition) -> Sentence:
    """Return the binding as a place for people."""
    return Sentence("the property “%(attribute)s”", attribute=binding.attribute)


def _properties_in_query(query: DesignedQuery | None) -> Iterator[str]:
    """Yield the names of the user properties that a query compares with; none for no query."""
    yield from _properties_in_conditions(conditions(query) if query is not None else ())


def _properties_in_conditions(placed: Iterable[tuple[str, DesignedCondition]]) -> Iterator[str]:
    """Yield the names of the user properties that conditions compare with. Each has its entity before it."""
    for _entity, condition in placed:
        yield from (value.name for value in condition.values if isinstance(value, UserValue))
