"""The configuration as rows: what the studio edits.

Rows may be incomplete while an endpoint is a draft. What they mean is said by the definitions they are read
into (`designer.loading`), and whether they can be served by `designer.readiness`.
"""

from designer.models.columns import Column
from designer.models.context import RelatedColumn, Role, UserProperty
from designer.models.endpoints import Endpoint, EndpointRole, OptionSet
from designer.models.inputs import Binding, Input
from designer.models.modules import ExposedEntity, Module
from designer.models.revision import Change, RevisionRow

__all__ = [
    "Binding",
    "Change",
    "Column",
    "Endpoint",
    "EndpointRole",
    "ExposedEntity",
    "Input",
    "Module",
    "OptionSet",
    "RelatedColumn",
    "RevisionRow",
    "Role",
    "UserProperty",
]
