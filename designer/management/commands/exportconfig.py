"""Write the configuration as a JSON document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.problems import DocumentError
from designer.documents.writing import export, to_bytes
from designer.loading import load


class Command(BaseCommand):
    help = "Write the configuration, or one module with its roles, as a JSON document."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--module", help="Only this module, by its segment.")
        parser.add_argument("--output", type=Path, help="The file to write. Default: standard output.")

    def handle(self, *args: Any, module: str | None, output: Path | None, **options: Any) -> None:
        try:
            document = to_bytes(export(load(), module))
        except (DocumentError, ValueError) as error:
            raise CommandError(str(error)) from error
        if output is None:
            self.stdout.write(document.decode(), ending="")
        else:
            output.write_bytes(document)
