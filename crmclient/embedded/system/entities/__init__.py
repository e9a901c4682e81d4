"""The system entities, as data."""

from __future__ import annotations

from crmclient.embedded.system.entities.business_unit import BUSINESS_UNIT
from crmclient.embedded.system.entities.note import NOTE
from crmclient.embedded.system.entities.role import ROLE
from crmclient.embedded.system.entities.system_user import SYSTEM_USER
from crmclient.embedded.system.entities.team import TEAM
from crmclient.metadata import Relationship

ENTITIES = (BUSINESS_UNIT, SYSTEM_USER, TEAM, ROLE, NOTE)

MANY_TO_MANY = (
    Relationship("teammembership_association", "team", "systemuser", intersect="teammembership"),
    Relationship("systemuserroles_association", "systemuser", "role", intersect="systemuserroles"),
)
