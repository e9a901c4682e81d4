"""Everything that the runtime keeps in the database, where Django looks for it."""

from __future__ import annotations

from runtime.callers.api_accounts import ApiAccount
from runtime.callers.failed_logins import FailedLogins, KnownNetwork
from runtime.describe.fragment_store import DescriptionFragment
from runtime.idempotency.models import IdempotencyRecord

__all__ = ["ApiAccount", "DescriptionFragment", "FailedLogins", "IdempotencyRecord", "KnownNetwork"]
