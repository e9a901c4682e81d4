"""Withdraw a proposal that is open."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.problems import DocumentError
from designer.management.proposal_argument import add_proposal_argument, found_proposal
from designer.proposals.proposal_json import proposal_json
from designer.proposals.publication import withdraw


class Command(BaseCommand):
    help = "Withdraw a proposal that is open. Nothing that is live changes, and the proposal stays readable."

    def add_arguments(self, parser: CommandParser) -> None:
        add_proposal_argument(parser)
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write it as JSON.")

    def handle(self, *args: Any, proposal: int, as_json: bool, **options: Any) -> None:
        stored_proposal = found_proposal(proposal)
        try:
            withdraw(stored_proposal, "")
        except DocumentError as error:
            raise CommandError(str(error)) from error
        stored_proposal.refresh_from_db()
        if as_json:
            self.stdout.write(json.dumps(proposal_json(stored_proposal), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"Withdrawn: proposal {stored_proposal}.")
