"""Commands of the CRM in the box that say in a sentence why its database cannot be used."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from crmbox.engine.dialects import dialect_of
from crmbox.engine.failures import as_platform_error
from crmclient.database_errors import trouble_of
from crmclient.errors import PlatformFailure


class StoreCommand(BaseCommand):
    """A command whose database may lack tables, or not be there: CommandError says so."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. Raises CommandError when the platform's database cannot be used."""
        try:
            return super().execute(*args, **options)
        except PlatformFailure as error:
            raise CommandError(str(error)) from error
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            # What is kept beside the records, such as an organisation's metadata, is read without the store.
            if isinstance(error, ProgrammingError) and trouble_of(error) is None:
                # A mistake in this code, whose traceback is needed.
                raise
            raise CommandError(str(as_platform_error(error, dialect_of(connection.vendor)))) from error
