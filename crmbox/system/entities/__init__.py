"""The system entities, as data."""

from __future__ import annotations

from crmbox.system.entities.activity_pointer import ACTIVITY_POINTER
from crmbox.system.entities.business_unit import BUSINESS_UNIT
from crmbox.system.entities.duplicate_rules import DUPLICATE_RULE, DUPLICATE_RULE_CONDITION
from crmbox.system.entities.note import NOTE
from crmbox.system.entities.party import ACTIVITY_PARTY
from crmbox.system.entities.role import ROLE
from crmbox.system.entities.system_user import SYSTEM_USER
from crmbox.system.entities.team import TEAM
from crmbox.system.entities.views import SAVED_QUERY, USER_QUERY
from crmclient.metadata import Relationship

ENTITIES = (
    BUSINESS_UNIT,
    SYSTEM_USER,
    TEAM,
    ROLE,
    NOTE,
    ACTIVITY_PARTY,
    ACTIVITY_POINTER,
    SAVED_QUERY,
    USER_QUERY,
    DUPLICATE_RULE,
    DUPLICATE_RULE_CONDITION,
)

# With the names of the entity sets of their pairs, which follow no rule.
MANY_TO_MANY = {
    Relationship(
        "teammembership_association", "team", "systemuser", intersect="teammembership"
    ): "teammemberships",
    Relationship(
        "systemuserroles_association", "systemuser", "role", intersect="systemuserroles"
    ): "systemuserrolescollection",
}
