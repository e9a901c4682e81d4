"""Bring the configuration to the state that a JSON document describes."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.importing import import_document
from designer.documents.problems import DocumentError
from designer.history.recording import Author, Origin, recording


class Command(BaseCommand):
    help = "Import a configuration document: shows the plan, then makes it so, all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="The document; - for standard input.")
        parser.add_argument(
            "--dry-run", action="store_true", help="Show the plan and every problem; change nothing."
        )
        parser.add_argument(
            "--delete",
            action="append",
            default=[],
            metavar="MODULE",
            help="Remove what the document lacks in this module; “context” for roles and user properties, "
            "“optionsets” for global option sets. May be given several times.",
        )

    def handle(self, *args: Any, file: str, dry_run: bool, delete: list[str], **options: Any) -> None:
        try:
            raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            with nullcontext() if dry_run else recording(Author(origin=Origin.COMMAND, note="importconfig")):
                plan = import_document(raw, delete, dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except DocumentError as error:
            raise CommandError(f"Nothing was changed.\n{error}") from error
        for line in plan.lines():
            self.stdout.write(line)
        if plan.does_nothing:
            self.stdout.write("Nothing to change.")
        elif dry_run:
            self.stdout.write("This was a dry run: nothing was changed.")
        else:
            self.stdout.write("Imported.")
