"""The secret with which an application that is built against a proposal reads what is proposed."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from designer.models import Proposal

_BYTES = 32
_SENT = re.compile(r"([1-9][0-9]{0,17})\.([0-9a-f]{64})")


def give_secret(proposal: Proposal) -> str:
    """Make a new secret, and return it as applications send it: `id.secret`.

    It is stored as a hash alone, and the one before is accepted no longer.
    """
    secret = secrets.token_hex(_BYTES)
    proposal.reading_digest = _digest(secret)
    Proposal.objects.filter(pk=proposal.pk).update(reading_digest=proposal.reading_digest)
    return f"{proposal.pk}.{secret}"


def open_proposal_of(sent: str) -> Proposal | None:
    """The open proposal that `id.secret` is of; None for anything else."""
    match = _SENT.fullmatch(sent)
    if match is None:
        return None
    found = Proposal.objects.filter(pk=int(match[1])).exclude(reading_digest="").first()
    # In the same time whether there is one.
    expected = "" if found is None else found.reading_digest
    is_right = hmac.compare_digest(expected, _digest(match[2]))
    return found if found is not None and is_right and found.is_open else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
