"""Commands that say in a sentence why the database or the platform cannot be used."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from crmclient.database_errors import Trouble, trouble_of
from crmclient.extensions import UnusableExtension

_UNPREPARED = "The database lacks migrations of this release. Run `manage.py prepare`."
_UNUSABLE = "The database cannot be used. Start it, or correct DATABASE_URL."


class DatabaseCommand(BaseCommand):
    """A command whose database may lack migrations or not be there, and whose platform may be impossible to
    make: CommandError says so.
    """

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. Raises CommandError when the database cannot be used or lacks migrations, and when
        the platform that PLATFORM names cannot be made.
        """
        try:
            return super().execute(*args, **options)
        except UnusableExtension as error:
            # The system checks do not make the platform: only a command that needs it does.
            raise CommandError(
                f"PLATFORM={settings.PORTICO['PLATFORM']!r}: {error} {error.remedy}"
            ) from error
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            if trouble_of(error) is Trouble.UNPREPARED:
                raise CommandError(_UNPREPARED) from error
            if isinstance(error, ProgrammingError):
                # A mistake in this code, whose traceback is needed.
                raise
            reported = " ".join(str(error).split())
            raise CommandError(f"{_UNUSABLE} Reported: {reported}") from error
