"""Bring database and static files up to date and, in development, fill an empty database with the demo."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from crmclient.errors import PlatformError
from project import demo
from project.addresses import is_loopback
from project.static_files import collect_when_changed


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="Leave an empty database empty.")

    def handle(self, *args: Any, no_demo: bool, **options: Any) -> None:
        self._step("Database", lambda: call_command("migrate", interactive=False, verbosity=0))
        self._step("Static files", collect_when_changed)
        if settings.DEVELOPMENT and not no_demo:
            self._demo()
        self._step("Descriptions", lambda: call_command("describe", stdout=io.StringIO()))

    def _step(self, name: str, do: Callable[[], object]) -> None:
        start = time.monotonic()
        self.stdout.write(f"{name} … ", ending="")
        self.stdout.flush()
        try:
            do()
        except PlatformError as error:
            # No reason not to start: the service tries again when somebody asks.
            self.stdout.write(f"put off. {error}")
        else:
            self.stdout.write(f"up to date ({time.monotonic() - start:.1f} s)")

    def _demo(self) -> None:
        exposed = not is_loopback(settings.PORTICO["HOST"])
        passwords = demo.passwords(random=exposed)
        if demo.is_wanted():
            self.stdout.write("The database is empty: loading the demo")
            demo.load(passwords, self.stdout)
        elif exposed:
            passwords = {name: passwords[name] for name in demo.accounts_with_the_demo_password()}
            demo.change_passwords(passwords)
        if exposed and passwords:
            self._show(passwords)

    def _show(self, passwords: Mapping[str, str]) -> None:
        self.stdout.write("Others can reach this address, so these demo accounts got passwords of their own.")
        self.stdout.write("They are shown only now:")
        for name, password in passwords.items():
            self.stdout.write(f"  {name:<10} {password}")
