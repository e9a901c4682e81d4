"""The people and places that documents and tests name, by ids that are the same in every demo.

Rita is a sales representative of *Sales North* and reports to Max; Aya answers cases in *Service*. Portal is
the account of an integration; Gregor has left and is disabled. Clara and Cosmo are customers: Clara is the
primary contact of the first account, where Conny works, too; Cosmo works at the second account and is not its
primary contact. The team *First Line* takes what customers report.
"""

from __future__ import annotations

import uuid
from typing import Final

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmclient.values import Guid

_DEMO: Final = uuid.UUID("8f0d1c5e-3a57-5d8e-9a41-6b2f7c90d3e4")


def stable_id(entity: str, key: str) -> Guid:
    """Return the id of the demo record of `entity` that has the name `key`."""
    return str(uuid.uuid5(_DEMO, f"{entity}/{key}"))


CONTOSO: Final = ROOT_BUSINESS_UNIT
SALES: Final = stable_id("businessunit", "Sales")
SALES_NORTH: Final = stable_id("businessunit", "Sales North")
SALES_SOUTH: Final = stable_id("businessunit", "Sales South")
SERVICE: Final = stable_id("businessunit", "Service")

KEY_ACCOUNTS: Final = stable_id("team", "Key Accounts")
NORTH_FIELD: Final = stable_id("team", "North Field")
FIRST_LINE: Final = stable_id("team", "First Line")

RITA_REP: Final = stable_id("systemuser", "Rita Rep")
MAX_MANAGER: Final = stable_id("systemuser", "Max Manager")
AYA_AGENT: Final = stable_id("systemuser", "Aya Agent")
PORTAL_SERVICE: Final = stable_id("systemuser", "Portal Service")
GONE_GREGOR: Final = stable_id("systemuser", "Gregor Gone")

FIRST_ACCOUNT: Final = stable_id("account", "A-00001")
FIRST_CONTACT: Final = stable_id("contact", "1")
SECOND_ACCOUNT: Final = stable_id("account", "A-00002")

CLARA_CUSTOMER: Final = FIRST_CONTACT
CONNY_COLLEAGUE: Final = stable_id("contact", "201")
COSMO_CONTACT: Final = stable_id("contact", "202")
