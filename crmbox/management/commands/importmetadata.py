"""Make entities in the embedded platform as a Dataverse organisation has them, from files that it answered.

A file is `$metadata`, or JSON: the answer to RetrieveMetadataChanges (it alone holds the options of choices),
to EntityDefinitions with Attributes expanded, or to GlobalOptionSetDefinitions. Only the entities that are
asked for get tables.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crmbox.importing import csdl_file, definitions, json_file
from crmbox.importing.carrying_out import Outcome, carry_out
from crmbox.importing.found import CannotRead, Described, Found
from crmbox.management.progress import Progress
from crmclient.errors import PlatformError
from crmclient.metadata import OptionSet

SHOWN = 20
EVERY = 100


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="file")
        parser.add_argument(
            "--entities", default="", help="logical names, separated by commas, of what is made"
        )
        parser.add_argument("--all", action="store_true", help="make every entity that the files describe")
        parser.add_argument(
            "--related", action="store_true", help="make what lookups of --entities point at, too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = {name.strip().lower() for name in options["entities"].split(",") if name.strip()}
        progress = Progress(self.stdout, "Metadata", every_step=True)
        try:
            if options["related"]:
                wanted |= _targets(options["files"], wanted)
            reader = _Reader(options["files"], None if options["all"] else wanted, progress)
            found = reader.read()
            missing = wanted - reader.names
            if missing:
                raise CommandError(f"The files describe no entity {', '.join(sorted(missing))}.")
            if not found:
                self._tell_what_there_is(reader)
                return
            self._tell(carry_out(found, reader.option_sets, progress.show))
        except (CannotRead, PlatformError, OSError) as error:
            raise CommandError(str(error)) from error

    def _tell_what_there_is(self, reader: _Reader) -> None:
        names = sorted(reader.names)
        shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        self.stdout.write(
            f"The files describe {len(names):,} entities with {reader.attributes:,} attributes: {shown}\n"
            "Nothing was made. Say which are wanted with --entities, or --all."
        )

    def _tell(self, outcome: Outcome) -> None:
        self.stdout.write(f"Made {len(outcome.created):,} entities, changed {len(outcome.changed):,}.")
        for line in outcome.left_out[:SHOWN]:
            self.stdout.write(f"Left out: {line}.")
        if len(outcome.left_out) > SHOWN:
            self.stdout.write(f"Left out: {len(outcome.left_out) - SHOWN:,} more attributes.")


class _Reader:
    """Reads the files once. Kept is what is wanted (all for None); of the rest only names and a count."""

    def __init__(self, files: list[Path], wanted: set[str] | None, progress: Progress) -> None:
        self._files = files
        self._wanted = wanted
        self._progress = progress
        self.names: set[str] = set()
        self.attributes = 0
        self.option_sets: dict[str, OptionSet] = {}

    def read(self) -> list[Found]:
        found: dict[str, Found] = {}
        for item in _items(self._files):
            if isinstance(item, OptionSet):
                self.option_sets[item.name] = item
                continue
            self.names.add(item.name)
            self.attributes += item.attributes
            if self._wanted is None or item.name in self._wanted:
                found[item.name] = item.read()
            if len(self.names) % EVERY == 0:
                self._progress.show("Entities read", len(self.names))
        return list(found.values())


def _items(files: list[Path]) -> Iterator[Described | OptionSet]:
    for path in files:
        with path.open("rb") as file:
            is_xml = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        try:
            yield from csdl_file.entities(path) if is_xml else _from_json(path)
        except CannotRead as error:
            raise CannotRead(f"{path}: {error}") from None


def _from_json(path: Path) -> Iterator[Described | OptionSet]:
    for item in json_file.objects(path):
        if definitions.is_option_set(item):
            yield definitions.option_set(item)
        elif "OptionSetType" not in item and (found := definitions.entity(item)) is not None:
            yield found


def _targets(files: list[Path], names: set[str]) -> set[str]:
    """What the lookups of the named entities point at and the files describe."""
    described: set[str] = set()
    pointed: set[str] = set()
    for item in _items(files):
        if isinstance(item, Described):
            described.add(item.name)
            if item.name in names:
                pointed |= {target for attribute in item.read().attributes for target in attribute.targets}
    return pointed & described
