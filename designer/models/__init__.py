"""The configuration as rows: what the studio edits.

Rows may be incomplete while an endpoint is a draft. What they mean is said by the definitions they are read
into (`designer.loading`), and whether they can be served by `designer.readiness`.
"""

from designer.models.access import EndpointAccess, PathAccess
from designer.models.audit import AuditEntry
from designer.models.columns import Column
from designer.models.context import CallerType, RelatedColumn, Role, UserProperty
from designer.models.endpoints import Endpoint, EndpointRole, OptionSet
from designer.models.environment import EnvironmentValue, EnvironmentValueUse
from designer.models.history import ItemChange, RecordedItem, RecordedRevision, Version
from designer.models.inputs import Binding, Input
from designer.models.issuers import Issuer, RoleRule
from designer.models.modules import ExposedEntity, Module
from designer.models.proposals import Proposal, Protection
from designer.models.provider_accounts import ProviderAccount
from designer.models.releases import Release
from designer.models.revision import Change, RevisionRow
from designer.models.rights import StudioRights
from designer.models.row_rules import RowRuleEntry, RowRuleRole
from designer.models.steps import Fetcher, Precondition
from designer.models.tried_calls import TriedCall
from designer.models.usage import EndpointCalls, TrackedEntity

__all__ = [
    "AuditEntry",
    "Binding",
    "CallerType",
    "Change",
    "Column",
    "Endpoint",
    "EndpointAccess",
    "EndpointCalls",
    "EndpointRole",
    "EnvironmentValue",
    "EnvironmentValueUse",
    "ExposedEntity",
    "Fetcher",
    "Input",
    "Issuer",
    "ItemChange",
    "Module",
    "OptionSet",
    "PathAccess",
    "Precondition",
    "Proposal",
    "Protection",
    "ProviderAccount",
    "RecordedItem",
    "RecordedRevision",
    "RelatedColumn",
    "Release",
    "RevisionRow",
    "Role",
    "RoleRule",
    "RowRuleEntry",
    "RowRuleRole",
    "StudioRights",
    "TrackedEntity",
    "TriedCall",
    "UserProperty",
    "Version",
]
