"""Writing the configuration as a document: the same configuration gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Collection as Names
from typing import Any

from designer.configuration import Configuration
from designer.definitions import (
    CALLER_TYPES,
    CallerTypeDefinition,
    ConfigurationDocument,
    EndpointDefinition,
    ExposedEntityDefinition,
    RoleDefinition,
)
from designer.definitions.row_rules import roles_of
from designer.documents.problems import DocumentError
from designer.sentences import Sentence


def export(configuration: Configuration, module: str | None = None) -> ConfigurationDocument:
    """Return the whole configuration as a document, or one module with the roles that its endpoints and row
    rules name.

    Raises DocumentError when there is no such module, or when rows make no definition: a document without
    them would lose them.
    """
    if module is not None and all(existing.segment != module for existing in configuration.modules):
        segments = ", ".join(sorted(existing.segment for existing in configuration.modules))
        raise DocumentError(
            [
                Sentence(
                    "There is no module “%(name)s”; there are: %(known)s.",
                    name=module,
                    known=segments or Sentence("none"),
                )
            ]
        )
    if problems := _problems_of_export(configuration):
        raise DocumentError(problems)
    endpoints = [endpoint.definition for endpoint in configuration.endpoints.values()]
    entities = list(configuration.entities)
    if module is not None:
        endpoints = [endpoint for endpoint in endpoints if endpoint.module == module]
        entities = [entity for entity in entities if entity.module == module]
    return ConfigurationDocument(
        format=2,
        roles=configuration.roles
        if module is None
        else _used_roles(configuration.roles, entities, endpoints),
        **_caller_types_member(configuration.caller_types, None if module is None else endpoints),
        issuers=configuration.issuers if module is None else (),
        user_properties=configuration.user_properties if module is None else (),
        modules=tuple(existing for existing in configuration.modules if module in (None, existing.segment)),
        entities=tuple(sorted(entities, key=lambda entity: entity.key)),
        endpoints=tuple(sorted(endpoints, key=lambda endpoint: endpoint.key)),
    )


def of_module(
    document: ConfigurationDocument, module: str, *, roles: Names[str] = (), caller_types: Names[str] = ()
) -> ConfigurationDocument:
    """Return the part of `document` that is one module, with the roles and caller types whose names are
    given.
    """
    types = tuple(definition for definition in document.caller_types if definition.name in caller_types)
    return ConfigurationDocument(
        format=document.format,
        roles=tuple(role for role in document.roles if role.name in roles),
        # A document without this member leaves the caller types as they are: an empty one would remove them.
        **({"caller_types": types} if types else {}),
        modules=tuple(definition for definition in document.modules if definition.segment == module),
        entities=tuple(entity for entity in document.entities if entity.module == module),
        endpoints=tuple(endpoint for endpoint in document.endpoints if endpoint.module == module),
    )


def to_bytes(document: ConfigurationDocument) -> bytes:
    """Return the document as indented JSON in UTF-8, which ends with a newline."""
    return json_bytes(document.to_json())


def json_bytes(data: dict[str, Any]) -> bytes:
    """Return the JSON of a document as bytes, as `to_bytes` does."""
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()


def _caller_types_member(
    types: tuple[CallerTypeDefinition, ...], endpoints: list[EndpointDefinition] | None
) -> dict[str, Any]:
    """Return the member `caller_types` of the document; no member when it would say nothing.

    Without `endpoints` it holds all types. With `endpoints` it holds those that they admit, without the
    built-in ones.
    """
    if endpoints is not None:
        named = {name for endpoint in endpoints for name in endpoint.access.caller_types}
        types = tuple(
            caller_type for caller_type in types if caller_type.name in named and not caller_type.is_built_in
        )
    return {"caller_types": types} if types and types != CALLER_TYPES else {}


def _used_roles(
    roles: tuple[RoleDefinition, ...],
    entities: list[ExposedEntityDefinition],
    endpoints: list[EndpointDefinition],
) -> tuple[RoleDefinition, ...]:
    """Return the roles that endpoints or the row rules of entities name."""
    names = {role for endpoint in endpoints for role in endpoint.access.roles}
    names = names.union(*(roles_of(entity.row_rule) for entity in entities))
    return tuple(role for role in roles if role.name in names)


def _problems_of_export(configuration: Configuration) -> list[str]:
    """Return a sentence for each item that cannot be exported, because its rows make no definition."""
    endpoints = [
        _sentence_on_unreadable(endpoint.definition.key, endpoint.problem)
        for endpoint in configuration.endpoints.values()
        if endpoint.problem is not None
    ]
    return [*endpoints, *(_sentence_on_unreadable(row, why) for row, why in configuration.unreadable.items())]


def _sentence_on_unreadable(item: str, why: str) -> Sentence:
    """Return the sentence about an item that cannot be exported. `why` is the problem of its row."""
    return Sentence("%(item)s cannot be exported: %(why)s", item=item, why=why)
