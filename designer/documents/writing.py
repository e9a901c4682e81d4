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
    """All of it, or one module with the roles that its endpoints and row rules name. Raises DocumentError.

    Rows that make no definition are an error: a document that leaves them out would lose them.
    """
    if module is not None and all(known.segment != module for known in configuration.modules):
        known = ", ".join(sorted(known.segment for known in configuration.modules)) or Sentence("none")
        raise DocumentError(
            [Sentence("There is no module “%(name)s”; there are: %(known)s.", name=module, known=known)]
        )
    if broken := _broken(configuration):
        raise DocumentError(broken)
    endpoints = [endpoint.definition for endpoint in configuration.endpoints.values()]
    entities = list(configuration.entities)
    if module is not None:
        endpoints = [endpoint for endpoint in endpoints if endpoint.module == module]
        entities = [entity for entity in entities if entity.module == module]
    return ConfigurationDocument(
        format=2,
        roles=configuration.roles if module is None else _named(configuration.roles, entities, endpoints),
        **_stated(configuration.caller_types, None if module is None else endpoints),
        issuers=configuration.issuers if module is None else (),
        user_properties=configuration.user_properties if module is None else (),
        modules=tuple(known for known in configuration.modules if module in (None, known.segment)),
        entities=tuple(sorted(entities, key=lambda entity: entity.key)),
        endpoints=tuple(sorted(endpoints, key=lambda endpoint: endpoint.key)),
    )


def of_module(
    document: ConfigurationDocument, module: str, *, roles: Names[str] = (), caller_types: Names[str] = ()
) -> ConfigurationDocument:
    """What of `document` is the module, with the roles and caller types that are given by name."""
    types = tuple(known for known in document.caller_types if known.name in caller_types)
    return ConfigurationDocument(
        format=document.format,
        roles=tuple(role for role in document.roles if role.name in roles),
        **({"caller_types": types} if types else {}),
        modules=tuple(known for known in document.modules if known.segment == module),
        entities=tuple(entity for entity in document.entities if entity.module == module),
        endpoints=tuple(endpoint for endpoint in document.endpoints if endpoint.module == module),
    )


def to_bytes(document: ConfigurationDocument) -> bytes:
    """Indented UTF-8 JSON with a last newline."""
    return json_bytes(document.to_json())


def json_bytes(data: dict[str, Any]) -> bytes:
    """As `to_bytes`, of a document's JSON."""
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()


def _stated(
    types: tuple[CallerTypeDefinition, ...], endpoints: list[EndpointDefinition] | None
) -> dict[str, Any]:
    """The document's caller types: all of them or, given `endpoints`, those that they admit and that are not
    there from the start. Nothing is said where there is nothing to say.
    """
    if endpoints is not None:
        named = {name for endpoint in endpoints for name in endpoint.access.caller_types}
        types = tuple(known for known in types if known.name in named and not known.is_built_in)
    return {"caller_types": types} if types and types != CALLER_TYPES else {}


def _named(
    roles: tuple[RoleDefinition, ...],
    entities: list[ExposedEntityDefinition],
    endpoints: list[EndpointDefinition],
) -> tuple[RoleDefinition, ...]:
    names = {role for endpoint in endpoints for role in endpoint.access.roles}
    names = names.union(*(roles_of(entity.row_rule) for entity in entities))
    return tuple(role for role in roles if role.name in names)


def _broken(configuration: Configuration) -> list[str]:
    endpoints = [
        _unwritable(endpoint.definition.key, endpoint.problem)
        for endpoint in configuration.endpoints.values()
        if endpoint.problem is not None
    ]
    return [*endpoints, *(_unwritable(row, why) for row, why in configuration.unreadable.items())]


def _unwritable(item: str, why: str) -> Sentence:
    return Sentence("%(item)s cannot be exported: %(why)s", item=item, why=why)
