"""The ids that every CRM in the box has from the beginning."""

from __future__ import annotations

from typing import Final

from crmclient.values import Guid

ROOT_BUSINESS_UNIT: Final[Guid] = "00000000-0000-4000-8000-000000000001"
SERVICE_USER: Final[Guid] = "00000000-0000-4000-8000-000000000002"
