"""Make the whole configuration what it was at a version."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.judgement import Refused
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS
from designer.history.recording import Author, Origin
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import document_at, plan_to, restore
from designer.models import Version


class Command(BaseCommand):
    help = (
        "Make the whole configuration what it was at a version, as a new version. Exits with 1, and changes "
        "nothing, when that could not be served."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", type=int, help="Its number; configversions lists them.")
        parser.add_argument("--dry-run", action="store_true", help="Show what would change; change nothing.")

    def handle(self, *args: Any, version: int, dry_run: bool, **options: Any) -> None:
        if not Version.objects.filter(pk=version).exists():
            raise CommandError(f"There is no version {version}. configversions lists them.")
        try:
            old_document = document_at(version)
            plan = plan_to(old_document) if dry_run else restore(old_document, _author(version)).plan
        except Refused as error:
            lines = ["Nothing was changed.", *error.problems]
            raise CommandError("\n".join(map(str, lines))) from error
        except ChangeRefused as error:
            lines = ["Nothing was changed.", *(str(finding.message) for finding in error.findings)]
            raise CommandError("\n".join(lines)) from error
        except DocumentError as error:
            raise CommandError(str(error)) from error
        for line in plan.lines():
            self.stdout.write(line)
        if plan.does_nothing:
            self.stdout.write(f"The configuration is as it was at version {version}.")
        elif dry_run:
            self.stdout.write("This was a dry run: nothing was changed.")
        else:
            self.stdout.write(f"Restored: the configuration is as it was at version {version}.")


def _author(version: int) -> Author:
    # Whoever has a shell of the service may change everything.
    return Author(
        origin=Origin.RESTORE,
        note=f"restoreconfig {version}",
        may_change_write_access=True,
        may_administer=True,
        answered=QUESTIONS,
    )
