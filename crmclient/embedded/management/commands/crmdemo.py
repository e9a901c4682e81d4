"""Fill an empty CRM with the demo's entities and records."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from crmclient.embedded.demo.load import is_wanted, load


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_wanted():
            self.stdout.write("The CRM has entities of the demo already: nothing was loaded.")
            return
        load(self._show)

    def _show(self, what: str, done: int, total: int) -> None:
        line = f"CRM demo: {what.lower()} {done:,} of {total:,}"
        if self.stdout.isatty():
            self.stdout.write(f"\r{line}", ending="\n" if done == total else "")
            self.stdout.flush()
        elif done == total:
            self.stdout.write(line)
