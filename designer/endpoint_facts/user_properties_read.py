"""Which user properties an endpoint reads, and in which of its places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, TypeAlias

from crmclient.query.designed import DesignedCondition, DesignedFilter, DesignedQuery, UserValue
from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition, InputDefinition, UserPropertyDefinition
from designer.endpoint_facts.concerned_endpoints import exposures_read
from designer.endpoint_facts.query_parameters import conditions, conditions_of_filter
from designer.expressions.members import reads
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
    return any(name == ANY or name in names for name in _names_read(endpoint))


def properties_in_endpoint(definition: EndpointDefinition) -> Iterator[PropertyInPlace]:
    """Yield the user properties that the definition itself reads; `ANY` for an unknown one."""
    yield from _properties_in_bindings(definition.inputs, definition)
    for column in definition.columns:
        for name in properties_in_expression(column.expression):
            yield name, Sentence("the calculated column “%(name)s”", name=column.shown_as)
    for condition in definition.preconditions:
        for name in properties_in_expression(condition.expression):
            yield name, Sentence("a pre-condition")
    for name in _properties_in_query(definition.settings.designed_query):
        yield name, Sentence("the query")
    for name in properties_in_filter(definition.row_rule):
        yield name, Sentence("the row rule")
    for fetcher in definition.fetchers:
        for name in _properties_in_query(fetcher.query):
            yield name, Sentence("the data fetcher “%(name)s”", name=fetcher.name)


def properties_in_filter(filter: DesignedFilter | None) -> Iterator[str]:
    """Yield the names of the user properties that a filter compares with."""
    # Without entities of aliases: which entity a condition is about makes no difference here.
    yield from _properties_in_conditions(conditions_of_filter(filter, None, {}))


def properties_in_expression(expression: str) -> Iterator[str]:
    """Yield the names of the user properties that an expression reads; `ANY` for an unknown one."""
    for path, _at in reads(expression, "user") if expression else ():
        yield path[0] if path else ANY


def _names_read(endpoint: Endpoint) -> Iterator[str]:
    for name, _place in properties_in_endpoint(endpoint.definition):
        yield name
    for exposed in exposures_read(endpoint):
        for entry in exposed.row_rule:
            yield from properties_in_filter(entry.filter)


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


def _properties_in_bindings(
    inputs: Iterable[InputDefinition], holder: EndpointDefinition | InputDefinition
) -> Iterator[PropertyInPlace]:
    """Yield the user properties that bindings read, with the place, and so those of the inputs' own
    bindings.
    """
    for binding in holder.bindings:
        place = Sentence("the property “%(attribute)s”", attribute=binding.attribute)
        if binding.source == "user":
            # A draft may have no value yet.
            if binding.value is not None:
                yield str(binding.value), place
        elif binding.source == "expression":
            for name in properties_in_expression(str(binding.value or "")):
                yield name, place
    for input_definition in inputs:
        yield from _properties_in_bindings(input_definition.inputs, input_definition)


def _properties_in_query(query: DesignedQuery | None) -> Iterator[str]:
    yield from _properties_in_conditions(conditions(query) if query is not None else ())


def _properties_in_conditions(placed: Iterable[tuple[str, DesignedCondition]]) -> Iterator[str]:
    for _entity, condition in placed:
        yield from (value.name for value in condition.values if isinstance(value, UserValue))
