"""Which endpoints a change of what they share may concern: roles, user properties, modules, row rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.endpoint_facts.reached_entities import reached_entities, ruled_entities
from designer.endpoint_facts.user_properties_read import ANY, names_read


def concerned(before: Configuration, after: Configuration) -> Callable[[Endpoint], bool]:
    """Return a check for endpoints that are the same in both configurations.

    The check says whether findings about the endpoint may have changed, because the roles, modules, caller
    types or user properties that it uses have.
    """
    # Endpoints depend on which roles and modules exist, not on their other fields; of user properties, every
    # field counts.
    roles = _names_of(before.roles) ^ _names_of(after.roles)
    modules = {module.segment for module in before.modules} ^ {module.segment for module in after.modules}
    # A caller type of another entity has other properties, on which everything about callers depends. Titles
    # and descriptions are left out, or each edit of one would have every endpoint judged anew.
    types_changed = _entities_by_type(before) != _entities_by_type(after)
    properties_changed = before.user_properties != after.user_properties

    def is_concerned(endpoint: Endpoint) -> bool:
        """Whether the endpoint uses something that has changed."""
        definition = endpoint.definition
        return (
            types_changed
            or definition.module in modules
            or not roles.isdisjoint(definition.access.roles)
            or any(
                not roles.isdisjoint((*call.roles, *call.refused_for)) for call in definition.example_calls
            )
            or (properties_changed and any(True for _name in names_read(endpoint)))
            # A condition may compare with the names of the caller's roles, whichever these are.
            or (bool(roles) and not {ANY, "roles"}.isdisjoint(names_read(endpoint)))
        )

    return is_concerned


def concerned_by_row_rules(before: Configuration, after: Configuration) -> Callable[[Endpoint], bool]:
    """Return a check whether an endpoint reaches an entity of which row rules hide records from some callers
    in only one of the configurations.
    """
    ruled = ruled_entities(before) ^ ruled_entities(after)

    def is_concerned(endpoint: Endpoint) -> bool:
        return bool(ruled) and not ruled.isdisjoint(reached_entities(endpoint))

    return is_concerned


def _entities_by_type(configuration: Configuration) -> dict[str, str]:
    """Return the entity of the records of each caller type."""
    return {caller_type.name: caller_type.entity for caller_type in configuration.caller_types}


def _names_of(definitions: Iterable[Any]) -> set[str]:
    """Return the names of definitions."""
    return {definition.name for definition in definitions}
