"""Proposals as JSON, for scripts and for other systems."""

from __future__ import annotations

import datetime as dt
from typing import Any

from designer.imports.import_report import report_on
from designer.loading import latest
from designer.models import Proposal
from designer.proposals.publication import is_approved, judge_proposal, needs_approval, obstacles


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """Return the JSON of a proposal without its document."""
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
    """Return the effects of publishing the proposal, and what prevents it, as JSON. Raises DocumentError."""
    judged = judge_proposal(proposal, with_calls=with_calls)
    return {
        **judged.to_json(),
        **report_on(judged).to_json(),
        "obstacles": [str(obstacle) for obstacle in obstacles(proposal)],
        "needs_approval": needs_approval(proposal, latest()),
        "approved": is_approved(proposal),
    }


def _text(instant: dt.datetime | None) -> str | None:
    """Return a time in ISO 8601, to the second; None for none."""
    return None if instant is None else instant.isoformat(timespec="seconds")
