"""List the versions of the configuration, newest first."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Count

from designer.history.recording import record_outside
from designer.management.json_command import JsonCommand
from designer.models import Version


class Command(JsonCommand):
    help = (
        "List the versions of the configuration, newest first: number, time (UTC), what they mean for "
        "callers, how many parts they changed, the way they came, and who made them."
    )

    json_help = "Write them as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--last", type=int, default=20, help="How many. Default: 20.")
        super().add_arguments(parser)

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
            self.write_json(versions)
            return
        for version in versions:
            # The columns have the order of the members above.
            number, made_at, *others = version.values()
            self.stdout.write(" ".join([f"{number:>6}", str(made_at), *map(str, others)]).rstrip())
