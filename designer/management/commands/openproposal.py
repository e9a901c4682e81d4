"""Open a proposal of what a document or a folder describes. What is live stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.documents.problems import DocumentError
from designer.management.document_source import add_source_arguments, source_of
from designer.management.json_command import JsonCommand, Refusal
from designer.proposals.new_proposals import open_source
from designer.proposals.proposal_json import proposal_json


class Command(JsonCommand):
    help = (
        "Open a proposal of what a document or a folder describes. Nothing that is live changes before the "
        "proposal is published. Exits with 1, and opens none, where the document is wrong or changes nothing."
    )

    json_help = "Write it as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        add_source_arguments(parser)
        parser.add_argument(
            "--title", default="", help="What the proposal is about. Default: the name of the file."
        )
        parser.add_argument(
            "--description", default="", help="Why the change is needed, for those who read the proposal."
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        file: str,
        delete: list[str],
        keep_later_changes: bool,
        values: Path | None,
        title: str,
        description: str,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Open a proposal of what importing the document would make. Raises CommandError."""
        try:
            source = source_of(file, values, delete, keep_later_changes=keep_later_changes)
            proposal = open_source(source, "", title or Path(file).name, description)
        except OSError as error:
            raise CommandError(f"{error.filename or file} cannot be read: {error.strerror}.") from error
        except DocumentError as error:
            raise Refusal("No proposal was opened.", error.problems) from error
        if as_json:
            self.write_json(proposal_json(proposal))
        else:
            self.stdout.write(f"Opened proposal {proposal}.")
