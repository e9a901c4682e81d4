"""Write what the platform says of itself as a file, for checkconfig to judge documents by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.imports.stored_values import named_entities
from designer.management.json_command import JsonCommand
from designer.overview import overview
from designer.platform_failures import failure_words
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.recorded_metadata import record


class Command(JsonCommand):
    help = (
        "Write the platform's metadata as a JSON file: all entities by name, and in full those that the "
        "configuration reads. checkconfig FILE --metadata judges a document by it, without a platform."
    )

    json_help = "Write a report as JSON; without --output, that is the metadata."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, help="The file to write. Default: standard output.")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--entity",
            action="append",
            default=[],
            dest="entities",
            metavar="NAME",
            help="In full this entity, too, by its logical name. May be given several times.",
        )
        which.add_argument("--all", action="store_true", dest="whole", help="All entities in full.")
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        output: Path | None,
        entities: list[str],
        whole: bool,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Write the metadata that the configuration needs, that of `entities`, or `whole`: that of all
        entities. Raises CommandError.
        """
        metadata = overview().metadata
        try:
            present = metadata.entities()
            if unknown := sorted(set(entities) - set(present)):
                raise CommandError(f"The platform has no entity {', '.join(unknown)}.")
            entity_names = present if whole else {*metadata.entities_asked_for, *named_entities(), *entities}
            document = record(metadata, entity_names).to_bytes()
        except MetadataUnavailable as error:
            raise CommandError(
                f"The platform does not return its metadata: {failure_words(error.error)}\n"
                "manage.py checkplatform tries the way there step by step."
            ) from error
        try:
            if output is None:
                self.stdout.write(document.decode(), ending="")
            else:
                output.write_bytes(document)
        except OSError as error:
            target = output or "Standard output"
            raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
        if as_json and output is not None:
            self.write_json({"result": "exported", "written": str(output)})
