"""Commands that say in a sentence why the database cannot be used."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from crmclient.database_errors import Trouble, trouble_of

_UNPREPARED = "The database lacks migrations of this release. Run `manage.py prepare`."
_UNUSABLE = "The database cannot be used. Start it, or correct DATABASE_URL."


class DatabaseCommand(BaseCommand):
    """A command whose database may lack migrations, or not be there: CommandError says so."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. Raises CommandError when the database cannot be used or lacks migrations."""
        try:
            return super().execute(*args, **options)
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            if trouble_of(error) is Trouble.UNPREPARED:
                raise CommandError(_UNPREPARED) from error
            if isinstance(error, ProgrammingError):
                # A mistake in this code, whose traceback is needed.
                raise
            reported = " ".join(str(error).split())
            raise CommandError(f"{_UNUSABLE} Reported: {reported}") from error
