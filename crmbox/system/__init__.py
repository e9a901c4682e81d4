"""What every CRM has: users, business units, teams, roles and notes, the root business unit and the service
user.
"""

from crmbox.system.identities import ROOT_BUSINESS_UNIT, SERVICE_USER

__all__ = ["ROOT_BUSINESS_UNIT", "SERVICE_USER"]
