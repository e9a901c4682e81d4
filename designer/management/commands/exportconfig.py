"""Write the configuration as a JSON document, or as a folder with a file for each part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from django.core.management.base import CommandError, CommandParser

from designer.documents.document_writer import export, json_bytes
from designer.documents.folder_writer import Format, write_folder
from designer.documents.problems import DocumentError
from designer.imports.stored_values import named_json
from designer.loading import load
from designer.management.json_command import JsonCommand


class Command(JsonCommand):
    help = "Write the configuration, or one module with its roles, as a JSON document or a folder of files."

    json_help = "Write a report as JSON; without --output and --folder, that is the document."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--module", help="Only this module, by its segment.")
        target = parser.add_mutually_exclusive_group()
        target.add_argument("--output", type=Path, help="The file to write. Default: standard output.")
        target.add_argument(
            "--folder",
            type=Path,
            help="The folder to write, with a file for each role, entity and endpoint. Files of parts that "
            "are there no more are removed.",
        )
        parser.add_argument(
            "--format",
            choices=get_args(Format),
            default="yaml",
            dest="form",
            help="Of the files in the folder. Default: yaml.",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        module: str | None,
        output: Path | None,
        folder: Path | None,
        form: Format,
        as_json: bool,
        **options: Any,
    ) -> None:
        try:
            document = named_json(export(load(), module))
            if folder is not None:
                write_folder(folder, document, form, module)
            elif output is not None:
                output.write_bytes(json_bytes(document))
            else:
                self.stdout.write(json_bytes(document).decode(), ending="")
        except (DocumentError, ValueError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            # A full disk names no file.
            target = error.filename or folder or output or "Standard output"
            raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
        written = folder or output
        if as_json and written is not None:
            self.write_json({"result": "exported", "written": str(written)})
