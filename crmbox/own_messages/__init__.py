"""Dataverse's own messages that the CRM in the box runs, as processes.

They work on any entities of these names, the demo's and those of an imported organisation: values that an
entity has no attribute for are left out.
"""

from crmbox.own_messages.cases import close_incident
from crmbox.own_messages.leads import qualify_lead
from crmbox.own_messages.opportunities import lose_opportunity, win_opportunity

MESSAGES = (qualify_lead, win_opportunity, lose_opportunity, close_incident)

__all__ = ["MESSAGES"]
