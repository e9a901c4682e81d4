"""All tables of the runtime, in the module where Django looks for them."""

from __future__ import annotations

from runtime.caching.write_generation import WriteGeneration
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.failed_logins import FailedLogins, KnownNetwork
from runtime.callers.former_roles import FormerRole
from runtime.callers.issuers.registration import Registration
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.refusal_counts import RefusalCount
from runtime.callers.token_families import TokenFamily
from runtime.describe.fragment_store import DescriptionFragment
from runtime.idempotency.models import IdempotencyRecord
from runtime.proposals.proposal_key import ProposalKey

__all__ = [
    "ApiAccount",
    "ApiKey",
    "DescriptionFragment",
    "FailedLogins",
    "FormerRole",
    "IdempotencyRecord",
    "KnownNetwork",
    "ProposalKey",
    "RefusalCount",
    "Registration",
    "TokenFamily",
    "WriteGeneration",
]
