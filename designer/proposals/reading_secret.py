"""The secret with which an application that is built against a proposal reads what is proposed."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from designer.models import Proposal

_BYTES = 32
# The id of the proposal, and the secret.
_SENT = re.compile(r"([1-9][0-9]{0,17})\.([0-9a-f]{64})")


def give_secret(proposal: Proposal) -> str:
    """Make a new secret, and return it as applications send it: `id.secret`.

    Only a hash of it is stored. The earlier secret is no longer accepted.
    """
    secret = secrets.token_hex(_BYTES)
    proposal.reading_digest = _digest(secret)
    Proposal.objects.filter(pk=proposal.pk).update(reading_digest=proposal.reading_digest)
    return f"{proposal.pk}.{secret}"


def open_proposal_of(sent: str) -> Proposal | None:
    """Return the open proposal that `id.secret` belongs to; None for anything else."""
    match = _SENT.fullmatch(sent)
    if match is None:
        return None
    proposal = Proposal.objects.filter(pk=int(match[1])).exclude(reading_digest="").first()
    # Compared also without a proposal, so that the time does not tell whether there is one.
    expected = "" if proposal is None else proposal.reading_digest
    is_right = hmac.compare_digest(expected, _digest(match[2]))
    return proposal if proposal is not None and is_right and proposal.is_open else None


def _digest(secret: str) -> str:
    """Return the SHA-256 of a secret, as hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()
