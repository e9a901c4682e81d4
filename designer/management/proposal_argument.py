"""The proposal that a command is about."""

from __future__ import annotations

from django.core.management.base import CommandError, CommandParser

from designer.models import Proposal


def add_proposal_argument(parser: CommandParser) -> None:
    """Add the argument `proposal`, the number of a proposal."""
    parser.add_argument("proposal", type=int, help="Its number; listproposals lists them.")


def found_proposal(number: int) -> Proposal:
    """Return the proposal with a number. Raises CommandError where there is none."""
    proposal = Proposal.objects.filter(pk=number).first()
    if proposal is None:
        raise CommandError(f"There is no proposal {number}. listproposals lists them.")
    return proposal
