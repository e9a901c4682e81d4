"""List the versions of the configuration, newest first."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Count

from designer.history.recording import record_outside
from designer.models import Version


class Command(BaseCommand):
    help = (
        "List the versions of the configuration, newest first: number, time (UTC), what they mean for "
        "callers, how many parts they changed, the way they came, and who made them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--last", type=int, default=20, help="How many. Default: 20.")
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write them as JSON.")

    def handle(self, *args: Any, last: int, as_json: bool, **options: Any) -> None:
        record_outside()
        versions = [
            {
                "version": version.pk,
                "made_at": version.made_at.isoformat(timespec="seconds"),
                "effect": version.effect,
                "changes": version.parts,
                "origin": version.origin,
                "account": version.account,
                "note": version.note,
            }
            for version in Version.objects.annotate(parts=Count("changes")).order_by("-pk")[: max(last, 0)]
        ]
        if as_json:
            self.stdout.write(json.dumps(versions, ensure_ascii=False, indent=2))
            return
        for version in versions:
            number, made_at, *others = version.values()
            self.stdout.write(" ".join([f"{number:>6}", str(made_at), *map(str, others)]).rstrip())
