"""List proposals, newest first."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from designer.models import Proposal
from designer.proposals.reporting import proposal_json


class Command(BaseCommand):
    help = "List the proposals that are open, newest first: number, state, module, who opened it, title."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="Those that are closed, too.")
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write them as JSON.")

    def handle(self, *args: Any, all: bool, as_json: bool, **options: Any) -> None:
        found = [known for known in Proposal.objects.defer("base", "document") if all or known.is_open]
        if as_json:
            told = [proposal_json(known) for known in found]
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
            return
        for known in found:
            line = f"{known.pk:>6} {known.state:10} {known.module or 'everything'} {known.account or '-'}"
            self.stdout.write(f"{line} {known.title}")
