"""Writing the configuration as a document: the same configuration gives the same bytes."""

from __future__ import annotations

import json

from designer.configuration import Configuration
from designer.definitions import ConfigurationDocument, EndpointDefinition, RoleDefinition
from designer.documents.problems import DocumentError
from designer.sentences import Sentence


def export(configuration: Configuration, module: str | None = None) -> ConfigurationDocument:
    """All of it, or one module with the roles that its endpoints name. Raises DocumentError.

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
        roles=configuration.roles if module is None else _named(configuration.roles, endpoints),
        user_properties=configuration.user_properties if module is None else (),
        modules=tuple(known for known in configuration.modules if module in (None, known.segment)),
        entities=tuple(sorted(entities, key=lambda entity: entity.key)),
        endpoints=tuple(sorted(endpoints, key=lambda endpoint: endpoint.key)),
    )


def to_bytes(document: ConfigurationDocument) -> bytes:
    """Indented UTF-8 JSON with a last newline."""
    return (json.dumps(document.to_json(), ensure_ascii=False, indent=2) + "\n").encode()


def _named(
    roles: tuple[RoleDefinition, ...], endpoints: list[EndpointDefinition]
) -> tuple[RoleDefinition, ...]:
    names = {role for endpoint in endpoints for role in endpoint.access.roles}
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
