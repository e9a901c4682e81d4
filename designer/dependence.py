"""Which endpoints a change of what they share may concern: roles, user properties, modules, row rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.reach import reached_entities, ruled_entities


def concerned(before: Configuration, after: Configuration) -> Callable[[Endpoint], bool]:
    """Whether findings about an endpoint, itself the same in both, may have changed between them."""
    # What else is said of a role or module is no endpoint's business; of a user property everything is.
    roles = _names(before.roles) ^ _names(after.roles)
    modules = {module.segment for module in before.modules} ^ {module.segment for module in after.modules}
    # What a caller type is, its properties, and so everything about callers, may be others now.
    types_changed = before.caller_types != after.caller_types
    properties_changed = before.user_properties != after.user_properties

    # Whether an entity has a row rule anywhere is asked of whatever reaches it.
    ruled = ruled_entities(before) ^ ruled_entities(after)

    def is_concerned(endpoint: Endpoint) -> bool:
        definition = endpoint.definition
        return (
            types_changed
            or definition.module in modules
            or not roles.isdisjoint(definition.access.roles)
            or any(
                not roles.isdisjoint((*call.roles, *call.refused_for)) for call in definition.example_calls
            )
            or not ruled.isdisjoint(reached_entities(endpoint))
            or (properties_changed and _may_name_a_user(endpoint))
        )

    return is_concerned


def _names(known: Iterable[Any]) -> set[str]:
    return {one.name for one in known}


def _may_name_a_user(endpoint: Endpoint) -> bool:
    """All that is written somewhere in it: bindings, expressions, filters, its entity's row rule."""
    written = (endpoint.definition, endpoint.entity)
    return any("user" in part.model_dump_json(exclude={"access"}) for part in written if part is not None)
