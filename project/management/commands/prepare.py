"""Bring static files and database up to date and, in development, fill an empty database with the demo.

Whoever builds an image does it in two steps: `build` makes the static files and needs neither a setting nor a
database; `migrate` does what the database needs and writes to nothing else.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connection

from crmclient.errors import PlatformError
from project import demo
from project.addresses import is_loopback
from project.platform import name_in_use
from project.static_files import CannotCollect, collect_when_changed

BUILD, MIGRATE = "build", "migrate"
# Between two tries to reach the database, in seconds.
_PAUSE = 0.5


class Command(BaseCommand):
    help = __doc__
    # A build knows no keys and no host names yet. The other step checks them in `handle`.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "step",
            nargs="?",
            choices=[BUILD, MIGRATE],
            help="Only this: static files (build), or the database (migrate). Both if left out.",
        )
        parser.add_argument(
            "--wait",
            type=int,
            default=0,
            metavar="SECONDS",
            help="How long to wait for a database that does not answer yet.",
        )
        parser.add_argument("--no-demo", action="store_true", help="Leave an empty database empty.")

    def handle(self, *args: Any, step: str | None, wait: int, no_demo: bool, **options: Any) -> None:
        """Do both steps or, with `step`, one of them. The database is waited for first: checks may ask it."""
        if step != BUILD:
            _reach_the_database(wait)
            self.check()
        if step != MIGRATE:
            self._static_files()
        if step != BUILD:
            self._database(with_demo=settings.DEVELOPMENT and not no_demo)

    def _static_files(self) -> None:
        """Collect the static files. Raises CommandError when the folder cannot be written."""
        try:
            self._step("Static files", collect_when_changed)
        except CannotCollect as error:
            self.stdout.write("")
            raise CommandError(str(error)) from error

    def _database(self, *, with_demo: bool) -> None:
        """Migrate the database, load the demo if it is wanted, and make the descriptions."""
        self._step("Database", lambda: call_command("migrate", interactive=False, verbosity=0))
        if with_demo:
            self._demo()
        self._step("Descriptions", lambda: call_command("describe", stdout=io.StringIO()))

    def _step(self, name: str, do: Callable[[], object]) -> None:
        """Do a step, and say how it went and how long it took. A failure of the platform only puts it off."""
        start = time.monotonic()
        self.stdout.write(f"{name} … ", ending="")
        self.stdout.flush()
        try:
            do()
        except PlatformError as error:
            # No reason not to start: the service tries again when somebody asks.
            self.stdout.write(f"put off. {error} {_advice(error)}".rstrip())
        else:
            self.stdout.write(f"up to date ({time.monotonic() - start:.1f} s)")

    def _demo(self) -> None:
        """Load the demo into an empty database. A service that others can reach gets random passwords for its
        accounts.
        """
        exposed = not is_loopback(settings.PORTICO["HOST"])
        passwords = demo.passwords(random=exposed)
        if demo.is_wanted():
            self.stdout.write("The database is empty: loading the demo")
            demo.load(passwords, self.stdout)
        elif exposed:
            # An earlier start, which only this machine could reach, gave accounts the published password.
            passwords = {name: passwords[name] for name in demo.accounts_with_the_demo_password()}
            demo.change_passwords(passwords)
        if exposed and passwords:
            self._show(passwords)

    def _show(self, passwords: Mapping[str, str]) -> None:
        """Print the new passwords of the demo's accounts."""
        self.stdout.write("Others can reach this address, so these demo accounts got passwords of their own.")
        self.stdout.write("They are shown only now:")
        for name, password in passwords.items():
            self.stdout.write(f"  {name:<10} {password}")


def _advice(error: PlatformError) -> str:
    """Return what to do about a failing platform; empty unless it is Dataverse."""
    if name_in_use() != "dataverse":
        return ""
    from crmclient.dataverse.advice import advice_on

    return f"{advice_on(error)} manage.py checkplatform tries the way there step by step."


def _reach_the_database(seconds: float) -> None:
    """Raise CommandError unless the database answers within so many seconds. It is asked at least once."""
    until = time.monotonic() + seconds
    while True:
        try:
            connection.ensure_connection()
        except OperationalError as error:
            if time.monotonic() >= until:
                # On one line: drivers report over several.
                reason = " ".join(str(error).split())
                raise CommandError(
                    f"The database cannot be reached. Start it, or correct DATABASE_URL. Reported: {reason}"
                ) from error
            time.sleep(_PAUSE)
        else:
            return
