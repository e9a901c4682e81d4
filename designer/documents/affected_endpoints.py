"""Which endpoints a change of the document may concern."""

from __future__ import annotations

from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.definitions.row_rules import roles_of
from designer.documents.plan import Change
from designer.endpoint_facts.reached_entities import exposures_read, reached_entities
from designer.endpoint_facts.roles_named import names_role
from designer.endpoint_facts.user_properties_read import reads_property


def may_answer_otherwise(endpoint: Endpoint, change: Change, configuration: Configuration) -> bool:
    """Whether `endpoint`, one of `configuration`, may answer otherwise once `change` is made.

    False for a change of an issuer: nobody knows which callers are that issuer's.
    """
    definition, item = endpoint.definition, change.before
    match change.collection.field:
        case "endpoints":
            return definition.key == change.key
        case "entities":
            entity: Any = item or change.after
            # The row rule also applies to queries of the module, to links to the entity's records, and to
            # records that are written together with others.
            return definition.module == entity.module and (
                definition.exposure == entity.segment
                or entity.entity in reached_entities(endpoint)
                or any(exposed.key == entity.key for exposed in exposures_read(endpoint))
            )
        case "modules":
            return definition.module == change.key
        case "roles":
            return (
                change.key in definition.access.roles
                or any(change.key in roles_of(exposed.row_rule) for exposed in exposures_read(endpoint))
                or names_role(endpoint, change.key, configuration.user_properties)
            )
        case "caller_types":
            return change.key in definition.access.caller_types
        case "user_properties":
            user_property: Any = item or change.after
            return reads_property(endpoint, user_property, configuration.user_properties)
    return False
