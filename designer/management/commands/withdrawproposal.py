"""Withdraw a proposal that is open."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from designer.documents.problems import DocumentError
from designer.management.json_command import JsonCommand, Refusal
from designer.management.proposal_argument import add_proposal_argument, found_proposal
from designer.proposals.proposal_json import proposal_json
from designer.proposals.publication import withdraw


class Command(JsonCommand):
    help = "Withdraw a proposal that is open. Nothing that is live changes, and the proposal stays readable."

    json_help = "Write it as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        add_proposal_argument(parser)
        super().add_arguments(parser)

    def handle(self, *args: Any, proposal: int, as_json: bool, **options: Any) -> None:
        stored_proposal = found_proposal(proposal)
        try:
            withdraw(stored_proposal, "")
        except DocumentError as error:
            raise Refusal("Nothing was changed.", error.problems) from error
        stored_proposal.refresh_from_db()
        if as_json:
            self.write_json(proposal_json(stored_proposal))
        else:
            self.stdout.write(f"Withdrawn: proposal {stored_proposal}.")
