"""Remove at once all that has expired, as the service does by and by."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from project.housekeeping import Busy, tidy


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for name, removed in tidy(waits=True):
                self.stdout.write(f"{name}: {removed} removed")
        except Busy:
            raise CommandError("Another process is removing what has expired. Try again later.") from None
