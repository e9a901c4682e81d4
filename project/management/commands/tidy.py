"""Remove at once all that has expired, as the service does by and by."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from designer.management.json_command import JsonCommand
from project.housekeeping import Busy, tidy


class Command(JsonCommand):
    help = __doc__

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        """Remove all expired rows, and print how many of each kind. Raises CommandError when another process
        does so.
        """
        counts: dict[str, int] = {}
        try:
            for name, removed in tidy(waits=True):
                counts[name] = removed
                if not as_json:
                    self.stdout.write(f"{name}: {removed} removed")
        except Busy:
            raise CommandError("Another process is removing what has expired. Try again later.") from None
        if as_json:
            self.write_json({"result": "tidied", "removed": counts})
