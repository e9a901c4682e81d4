"""The configuration as immutable values. The studio's rows are one form of it, these the other."""

from designer.definitions.access import AccessDefinition
from designer.definitions.base import Definition
from designer.definitions.bindings import BindingDefinition, BindingSource
from designer.definitions.columns import ColumnDefinition
from designer.definitions.context import (
    RoleDefinition,
    UserPropertyDefinition,
    UserPropertyKind,
)
from designer.definitions.document import ConfigurationDocument
from designer.definitions.endpoints import EndpointDefinition, EndpointSettings
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition
from designer.definitions.inputs import InputDefinition
from designer.definitions.queries import FilterValue, QueryValue
from designer.definitions.steps import FetcherDefinition, PreconditionDefinition

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
