"""Which endpoints a change of what they share may concern: roles, user properties, modules, row rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.definitions import ExposedEntityDefinition
from designer.endpoint_facts.reached_entities import reached_entities, ruled_entities
from designer.types import holds_records


def concerned(before: Configuration, after: Configuration) -> Callable[[Endpoint], bool]:
    """Return a check for endpoints that are the same in both configurations.

    The check says whether findings about the endpoint may have changed, because the roles, modules, caller
    types or user properties that it uses have.
    """
    # Endpoints depend on which roles and modules exist, not on their other fields; of user properties, every
    # field counts.
    roles = _names(before.roles) ^ _names(after.roles)
    modules = {module.segment for module in before.modules} ^ {module.segment for module in after.modules}
    # A caller type of another entity has other properties, on which everything about callers depends. Titles
    # and descriptions are left out, or each edit of one would have every endpoint judged anew.
    types_changed = _entities_by_type(before) != _entities_by_type(after)
    properties_changed = before.user_properties != after.user_properties

    def is_concerned(endpoint: Endpoint) -> bool:
        definition = endpoint.definition
        return (
            types_changed
            or definition.module in modules
            or not roles.isdisjoint(definition.access.roles)
            or any(
                not roles.isdisjoint((*call.roles, *call.refused_for)) for call in definition.example_calls
            )
            or (properties_changed and _may_name_a_user(endpoint))
        )

    return is_concerned


def concerned_by_row_rules(before: Configuration, after: Configuration) -> Callable[[Endpoint], bool]:
    """Return a check whether an endpoint reaches an entity that has got its first row rule, or lost its last
    one.
    """
    ruled = ruled_entities(before) ^ ruled_entities(after)

    def is_concerned(endpoint: Endpoint) -> bool:
        return bool(ruled) and not ruled.isdisjoint(reached_entities(endpoint))

    return is_concerned


def exposures_read(endpoint: Endpoint) -> tuple[ExposedEntityDefinition, ...]:
    """Return the exposed entities that findings about the endpoint depend on, its own first."""
    definition = endpoint.definition
    own_entity = () if endpoint.entity is None else (endpoint.entity,)
    if definition.settings.related_segment or any(
        holds_records(input_definition.type) for input_definition in definition.inputs
    ):
        return (*own_entity, *endpoint.exposures)
    reached = reached_entities(endpoint)
    if not reached:
        return own_entity
    return (*own_entity, *(exposed for exposed in endpoint.exposures if exposed.entity in reached))


def _entities_by_type(configuration: Configuration) -> dict[str, str]:
    return {caller_type.name: caller_type.entity for caller_type in configuration.caller_types}


def _names(definitions: Iterable[Any]) -> set[str]:
    return {definition.name for definition in definitions}


def _may_name_a_user(endpoint: Endpoint) -> bool:
    """Whether a binding, an expression, a filter or the entity's row rule of the endpoint may read the
    user.
    """
    written = (endpoint.definition, endpoint.entity)
    return any("user" in part.model_dump_json(exclude={"access"}) for part in written if part is not None)
