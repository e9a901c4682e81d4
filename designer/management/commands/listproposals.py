"""List proposals, newest first."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from designer.management.json_command import JsonCommand
from designer.models import Proposal
from designer.proposals.proposal_json import proposal_json


class Command(JsonCommand):
    help = "List the proposals that are open, newest first: number, state, module, who opened it, title."

    json_help = "Write them as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="Those that are closed, too.")
        super().add_arguments(parser)

    def handle(self, *args: Any, all: bool, as_json: bool, **options: Any) -> None:
        """Write a line for each open proposal; with `all`, for the closed ones, too."""
        proposals = [
            proposal
            for proposal in Proposal.objects.defer("base", "document", "earlier")
            if all or proposal.is_open
        ]
        if as_json:
            self.write_json([proposal_json(proposal) for proposal in proposals])
            return
        for proposal in proposals:
            scope, account = proposal.module or "everything", proposal.account or "-"
            line = f"{proposal.pk:>6} {proposal.state:10} {scope} {account}"
            self.stdout.write(f"{line} {proposal.title}")
