"""The configuration as immutable values. The studio's rows are one form of it, these the other."""

from designer.definition import Definition
from designer.definitions.context import (
    CALLER_TYPES,
    CallerTypeDefinition,
    RoleDefinition,
    UserPropertyDefinition,
    UserPropertyKind,
)
from designer.definitions.document import ConfigurationDocument
from designer.definitions.endpoints import (
    AccessDefinition,
    BindingDefinition,
    BindingSource,
    ColumnDefinition,
    EndpointDefinition,
    FetcherDefinition,
    InputDefinition,
    PreconditionDefinition,
)
from designer.definitions.entities import ExposedEntityDefinition, ModuleDefinition, closed_entity
from designer.definitions.example_calls import ExampleCallDefinition, SampleFileDefinition
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
from designer.kinds.settings import EndpointSettings
from designer.queries.stored_queries import FilterValue, QueryValue

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
    "SampleFileDefinition",
    "UserPropertyDefinition",
    "UserPropertyKind",
    "closed_entity",
]
