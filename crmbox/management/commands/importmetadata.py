"""Make entities in the CRM in the box as a Dataverse organisation has them, from its files or itself.

A file is `$metadata`, or JSON: the answer to RetrieveMetadataChanges (it alone holds the options of choices),
to EntityDefinitions with Attributes expanded, or to GlobalOptionSetDefinitions. Only the entities that are
asked for get tables. All of it is done, or nothing.
"""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils.module_loading import import_string

from crmbox.engine.connection import read_unit
from crmbox.importing import sources
from crmbox.importing.import_plan import plan
from crmbox.importing.organization import organization
from crmbox.importing.plan import Plan, note_line
from crmbox.importing.source_entity import CannotRead, Verdict
from crmbox.importing.sources import Contents, Source
from crmbox.management.json_command import JsonCommand
from crmbox.management.progress import Progress
from crmbox.metadata import staged_change
from crmbox.metadata.draft import Draft
from crmclient.errors import PlatformError

_MOST_LEVELS = 100

SHOWN = 20
"""The most names of entities, and the most notes on attributes, that are written for people."""


class Command(JsonCommand):
    help = __doc__
    json_help = "say it as JSON"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("files", nargs="*", type=Path, metavar="file")
        parser.add_argument(
            "--organization", action="store_true", help="read the organisation at CRM_URL instead of files"
        )
        parser.add_argument(
            "--entities", default="", help="logical names, separated by commas, of what is made"
        )
        parser.add_argument("--all", action="store_true", help="make every entity that the files describe")
        parser.add_argument(
            "--related",
            nargs="?",
            type=_levels,
            const=1,
            default=0,
            metavar="LEVELS",
            help="make what lookups of --entities point at, too; with 2, what lookups of these point at. "
            "Name files before this option",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say all that would be done and left out; make nothing"
        )
        parser.add_argument(
            "--keep-lengths", action="store_true", help="never shorten the length of an attribute that exists"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the source, plan the import, carry it out unless it is a dry run, and write the result."""
        began = time.monotonic()
        wanted = {name.strip().lower() for name in options["entities"].split(",") if name.strip()}
        progress = Progress(self.stderr if options["as_json"] else self.stdout, "Metadata", every_step=True)
        if options["related"] and not wanted:
            raise CommandError(
                "--related makes what lookups of --entities point at. Name these with --entities, or leave "
                "--related out."
            )
        try:
            source = _source(options)
            contents = sources.read(
                source, wanted, options["related"], progress.show, all_entities=options["all"]
            )
            if missing := wanted - contents.names:
                raise CommandError(_missing_entities_message(missing, contents))
            # Without --entities and --all, nothing is read in full: only what there is gets listed.
            if not contents.entities:
                self._write_contents(contents, options)
                return
            # An import that was broken off may have left tables.
            if not options["dry_run"]:
                staged_change.clear()
            draft, planned = _plan(contents, keep_lengths=options["keep_lengths"])
            if options["all"]:
                planned.notes[:0] = contents.notes
            if not options["dry_run"] and not planned.refused:
                staged_change.carry_out(draft, progress.show)
        except (CannotRead, PlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        self._write_result(planned, options, time.monotonic() - began)

    def failure_report(self, error: CommandError) -> dict[str, Any]:
        """Return the report of an import that failed: that of a plan which was refused."""
        return {"made": False, **Plan(refused=[str(error)]).json()}

    def _write_contents(self, contents: Contents, options: dict[str, Any]) -> None:
        """Write the names of the entities that there are, what is left out of them, and what to do next.

        Parts of the source that describe no entity, the notes PASSED_OVER, are for scripts alone: people have
        nothing to decide about them.
        """
        names = sorted(contents.names)
        if options["as_json"]:
            self.write_json({"made": False, "entities": names, **Plan(notes=contents.notes).json()})
            return
        reason = (
            "None of them can be made."
            if options["all"]
            else "Say which are wanted with --entities, or --all."
        )
        shown = f": {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}" if names else "."
        # Nobody has asked the organisation for its attributes yet.
        described = (
            f"The organisation has {len(names):,} entities"
            if options["organization"]
            else f"The files describe {len(names):,} entities with {contents.attributes:,} attributes"
        )
        self.stdout.write(f"{described}{shown}\nNothing was made. {reason}")
        for note in contents.notes:
            if note.verdict is not Verdict.PASSED_OVER:
                self.stdout.write(note_line(note))

    def _write_result(self, planned: Plan, options: dict[str, Any], seconds: float) -> None:
        """Write what was or would be made. Raises CommandError with the reasons for a refused import."""
        is_made = not options["dry_run"] and not planned.refused
        if options["as_json"]:
            self.write_json({"made": is_made, "seconds": round(seconds, 1), **planned.json()})
        elif options["dry_run"]:
            for text in planned.lines():
                self.stdout.write(text)
            self.stdout.write(f"Nothing was made. The import would make {planned.summary()}")
        elif is_made:
            self.stdout.write(f"Made {planned.summary()} It took {seconds:.1f} seconds.")
            self._write_notes(planned)
        if planned.refused:
            problems = "\n".join(planned.refused)
            raise CommandError(
                f"{problems}\nNothing was made. Change these records. --keep-lengths keeps lengths of texts."
            )

    def _write_notes(self, planned: Plan) -> None:
        """Write the notes on whole entities, and the first of those on attributes.

        The subject of a note on an attribute has a dot, as in `account.name`.
        """
        entities = [note for note in planned.notes if "." not in note.subject]
        attributes = [note for note in planned.notes if "." in note.subject]
        for note in (
            *(entity_note for entity_note in entities if entity_note.verdict is not Verdict.PASSED_OVER),
            *attributes[:SHOWN],
        ):
            self.stdout.write(note_line(note))
        if len(attributes) > SHOWN:
            self.stdout.write(
                f"{len(attributes) - SHOWN:,} more notes on attributes: --dry-run shows all of them."
            )


def _levels(text: str) -> int:
    """Return the number of levels that --related has. Raises ArgumentTypeError, such as for a file's name."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= _MOST_LEVELS:
        raise ArgumentTypeError(
            f"“{text}” is no number of levels from 1 to {_MOST_LEVELS}. Write a number after --related, and "
            "files before it."
        )
    return int(text)


def _missing_entities_message(missing: set[str], contents: Contents) -> str:
    """Return the message about wanted entities that the files do not describe, with the reason if there is
    one.
    """
    reasons = (note_line(note) for note in contents.notes if note.subject in missing)
    return "\n".join((f"There is no entity {', '.join(sorted(missing))}.", *reasons))


def _source(options: dict[str, Any]) -> Source:
    """Return the source that the options name: files or a live organisation. Raises CommandError unless it is
    exactly one of them.
    """
    has_files, from_organization = bool(options["files"]), options["organization"]
    if has_files == from_organization:
        raise CommandError("Name files, or --organization to read the organisation at CRM_URL.")
    if has_files:
        return sources.files(options["files"])
    if not settings.PORTICO["CRM_URL"]:
        raise CommandError("CRM_URL is not set. Set CRM_URL and the application user of the organisation.")
    return organization(import_string(settings.CRM_ORGANIZATION)())


def _plan(contents: Contents, *, keep_lengths: bool) -> tuple[Draft, Plan]:
    """Return the plan of the import, and the draft of the metadata with its changes. Nothing is written."""
    with read_unit() as unit:
        draft = staged_change.draft_of(unit)
        planned = plan(
            draft,
            contents.entities.values(),
            contents.option_sets,
            unit,
            described=contents.names,
            hidden=contents.hidden,
            keep_lengths=keep_lengths,
        )
    return draft, planned
