"""The whole configuration as one document: what is exported, imported, compared and released."""

from __future__ import annotations

from typing import Literal

from designer.definition import Definition
from designer.definitions.context import RoleDefinition, UserPropertyDefinition
from designer.definitions.endpoints import EndpointDefinition
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition


class ConfigurationDocument(Definition):
    """Flat lists, natural keys, no database ids. `format` is raised when older readers would misread it."""

    format: Literal[2]
    roles: tuple[RoleDefinition, ...] = ()
    user_properties: tuple[UserPropertyDefinition, ...] = ()
    modules: tuple[ModuleDefinition, ...] = ()
    entities: tuple[ExposedEntityDefinition, ...] = ()
    endpoints: tuple[EndpointDefinition, ...] = ()
