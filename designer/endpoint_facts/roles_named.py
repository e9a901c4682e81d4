"""Which roles expressions name as text, as in `"sales-manager" in user.roles`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition, UserPropertyDefinition
from designer.endpoint_facts.user_properties_read import (
    ANY,
    expressions_in_endpoint,
    properties_in_expression,
    reads_property,
)
from designer.expressions.members import quoted_texts
from designer.sentences import Sentence


def names_role(endpoint: Endpoint, role: str, all_properties: Iterable[UserPropertyDefinition]) -> bool:
    """Whether an expression of the endpoint may name `role`.

    Expressions of custom properties count as well, if the endpoint reads one that is among `all_properties`.
    """
    if any(name == role for name, _place in roles_in_endpoint(endpoint.definition)):
        return True
    return any(
        role in roles_in_expression(user_property.expression)
        and reads_property(endpoint, user_property, all_properties)
        for user_property in all_properties
    )


def roles_in_endpoint(definition: EndpointDefinition) -> Iterator[tuple[str, Sentence]]:
    """Yield the texts of the endpoint's expressions that may be names of roles, each with its place."""
    for expression, place in expressions_in_endpoint(definition):
        for name in sorted(roles_in_expression(expression)):
            yield name, place


@lru_cache(maxsize=4096)
def roles_in_expression(expression: str) -> frozenset[str]:
    """Return the texts of an expression that may be names of roles: all of them if it reads the caller's
    roles, else none.
    """
    reads_roles = not {ANY, "roles"}.isdisjoint(properties_in_expression(expression))
    return frozenset(quoted_texts(expression)) if reads_roles else frozenset()
