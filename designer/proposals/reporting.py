"""Proposals for scripts and for other systems: as JSON."""

from __future__ import annotations

import datetime as dt
from typing import Any

from designer.import_report import report_on
from designer.loading import latest
from designer.models import Proposal
from designer.proposals.publishing import is_approved, judge_proposal, needs_approval, obstacles


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """What is known of it without looking into it."""
    return {
        "id": proposal.pk,
        "title": proposal.title,
        "description": proposal.description,
        "state": proposal.state,
        "module": proposal.module or None,
        "base": proposal.digest,
        "account": proposal.account,
        "opened_at": _text(proposal.opened_at),
        "edited_by": proposal.edited_by,
        "edited_at": _text(proposal.edited_at),
        "approved_by": proposal.approved_by or None,
        "closed_by": proposal.closed_by or None,
        "closed_at": _text(proposal.closed_at),
        "version": proposal.version,
    }


def review_json(proposal: Proposal, *, with_calls: bool = False) -> dict[str, Any]:
    """What publishing it would lead to, and what holds it back. Raises DocumentError."""
    judged = judge_proposal(proposal, with_calls=with_calls)
    return {
        **judged.to_json(),
        **report_on(judged).to_json(),
        "obstacles": [str(known) for known in obstacles(proposal)],
        "needs_approval": needs_approval(proposal, latest()),
        "approved": is_approved(proposal),
    }


def _text(at: dt.datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
