"""Add an index to an attribute of the CRM in the box, or remove it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from crmbox.management.store_command import StoreCommand
from crmbox.metadata import change
from crmclient.errors import InvalidDefinition, PlatformError


class Command(StoreCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("entity", help="The entity's logical name, such as account.")
        parser.add_argument("attribute", help="The attribute's logical name, such as telephone1.")
        parser.add_argument(
            "--contains",
            action="store_true",
            help="An index of pieces of the text, for contains, ends with and like. "
            "Without it: an index to filter and sort by.",
        )
        parser.add_argument("--remove", action="store_true", help="Remove the index.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add or remove one index of an attribute: the one to search pieces of its text (`--contains`), or
        the one to filter and sort by. The other one stays as it is.
        """
        entity, attribute, is_indexed = options["entity"], options["attribute"], not options["remove"]
        try:
            with change() as metadata:
                column = metadata.snapshot.entity(entity).columns.get(attribute)
                if column is None:
                    raise InvalidDefinition(f"{entity}: there is no attribute {attribute!r}.")
                indexed, searched = column.definition.indexed, column.definition.searched
                if options["contains"]:
                    searched = is_indexed
                else:
                    indexed = is_indexed
                metadata.alter_indexes(entity, attribute, indexed=indexed, searched=searched)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{entity}.{attribute}: the index is {'there' if is_indexed else 'gone'}.")
