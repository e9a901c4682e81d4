"""The whole configuration as one document: what is exported, imported, compared and released."""

from __future__ import annotations

from typing import Literal

from designer.definition import Definition
from designer.definitions.context import (
    CALLER_TYPES,
    CallerTypeDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)
from designer.definitions.endpoints import EndpointDefinition
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition
from designer.definitions.issuers import IssuerDefinition


class ConfigurationDocument(Definition):
    """A configuration in flat lists, whose items refer to each other by their keys: no database ids.

    `format` is raised when older readers would misread a document. A document without `caller_types` has
    the built-in ones.
    """

    format: Literal[2]
    roles: tuple[RoleDefinition, ...] = ()
    caller_types: tuple[CallerTypeDefinition, ...] = CALLER_TYPES
    issuers: tuple[IssuerDefinition, ...] = ()
    user_properties: tuple[UserPropertyDefinition, ...] = ()
    modules: tuple[ModuleDefinition, ...] = ()
    entities: tuple[ExposedEntityDefinition, ...] = ()
    endpoints: tuple[EndpointDefinition, ...] = ()
