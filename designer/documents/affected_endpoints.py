"""Which endpoints a change of the document may concern."""

from __future__ import annotations

from typing import Any

from designer.configuration import Endpoint
from designer.definitions.row_rules import roles_of
from designer.documents.plan import Change
from designer.endpoint_facts.reached_entities import reached_entities


def answers_by(endpoint: Endpoint, change: Change) -> bool:
    """Whether `endpoint` may answer otherwise once `change` is made.

    False for a change of an issuer: nobody knows which callers are that issuer's.
    """
    definition, item = endpoint.definition, change.before
    match change.collection.field:
        case "endpoints":
            return definition.key == change.key
        case "entities":
            entity: Any = item or change.after
            # Queries of the module reach it under its row rule, too.
            return definition.module == entity.module and (
                definition.exposure == entity.segment or entity.entity in reached_entities(endpoint)
            )
        case "modules":
            return definition.module == change.key
        case "roles":
            roles_in_rule = roles_of(endpoint.entity.row_rule) if endpoint.entity else frozenset()
            return change.key in roles_in_rule or change.key in definition.access.roles
        case "caller_types":
            return change.key in definition.access.caller_types
        case "user_properties":
            name = getattr(item or change.after, "name", "")
            parts = (definition, endpoint.entity)
            return any(f"user.{name}" in part.model_dump_json() for part in parts if part is not None)
    return False
