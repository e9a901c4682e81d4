"""The configuration as immutable values. The studio's rows are one form of it, these the other."""

from designer.definition import Definition
from designer.definitions.access import AccessDefinition
from designer.definitions.bindings import BindingDefinition, BindingSource
from designer.definitions.columns import ColumnDefinition
from designer.definitions.context import (
    CALLER_TYPES,
    CallerTypeDefinition,
    RoleDefinition,
    UserPropertyDefinition,
    UserPropertyKind,
)
from designer.definitions.document import ConfigurationDocument
from designer.definitions.endpoints import EndpointDefinition
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition, closed_entity
from designer.definitions.example_calls import ExampleCallDefinition
from designer.definitions.inputs import InputDefinition
from designer.definitions.issuers import (
    LONGEST_LEEWAY,
    TENANT,
    Algorithm,
    ClaimInputDefinition,
    ClaimShape,
    GrantDefinition,
    IssuerDefinition,
    KeysDefinition,
    RecordDefinition,
    RegistrationDefinition,
    RequiredClaimDefinition,
    RoleRuleDefinition,
)
from designer.definitions.row_rules import Acknowledgement, RowRuleEntry
from designer.definitions.steps import FetcherDefinition, PreconditionDefinition
from designer.kinds.settings import EndpointSettings
from designer.stored_queries import FilterValue, QueryValue

__all__ = [
    "CALLER_TYPES",
    "LONGEST_LEEWAY",
    "TENANT",
    "AccessDefinition",
    "Acknowledgement",
    "Algorithm",
    "BindingDefinition",
    "BindingSource",
    "CallerTypeDefinition",
    "ClaimInputDefinition",
    "ClaimShape",
    "ColumnDefinition",
    "ConfigurationDocument",
    "Definition",
    "EndpointDefinition",
    "EndpointSettings",
    "ExampleCallDefinition",
    "ExposedEntityDefinition",
    "FetcherDefinition",
    "FilterValue",
    "GrantDefinition",
    "InputDefinition",
    "IssuerDefinition",
    "KeysDefinition",
    "ModuleDefinition",
    "PreconditionDefinition",
    "QueryValue",
    "RecordDefinition",
    "RegistrationDefinition",
    "RequiredClaimDefinition",
    "RoleDefinition",
    "RoleRuleDefinition",
    "RowRuleEntry",
    "UserPropertyDefinition",
    "UserPropertyKind",
    "closed_entity",
]
