"""The configuration as immutable values. The studio's rows are one form of it, these the other."""

from designer.definition import Definition
from designer.definitions.access import AccessDefinition
from designer.definitions.bindings import BindingDefinition, BindingSource
from designer.definitions.columns import ColumnDefinition
from designer.definitions.context import (
    RoleDefinition,
    UserPropertyDefinition,
    UserPropertyKind,
)
from designer.definitions.document import ConfigurationDocument
from designer.definitions.endpoints import EndpointDefinition
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition
from designer.definitions.inputs import InputDefinition
from designer.definitions.steps import FetcherDefinition, PreconditionDefinition
from designer.kinds.settings import EndpointSettings
from designer.stored_queries import FilterValue, QueryValue

__all__ = [
    "AccessDefinition",
    "BindingDefinition",
    "BindingSource",
    "ColumnDefinition",
    "ConfigurationDocument",
    "Definition",
    "EndpointDefinition",
    "EndpointSettings",
    "ExposedEntityDefinition",
    "FetcherDefinition",
    "FilterValue",
    "InputDefinition",
    "ModuleDefinition",
    "PreconditionDefinition",
    "QueryValue",
    "RoleDefinition",
    "UserPropertyDefinition",
    "UserPropertyKind",
]
