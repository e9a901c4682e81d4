"""Fill an empty CRM with the demo's entities and records."""

from __future__ import annotations

from typing import Any

from crmbox.demo.load import is_wanted, load
from crmbox.management.progress import Progress
from crmbox.management.store_command import StoreCommand


class Command(StoreCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_wanted():
            self.stdout.write("The CRM has records of the demo's entities already: nothing was loaded.")
            return
        for problem in load(Progress(self.stdout, "CRM demo").show):
            self.stdout.write(f"The demo cannot serve {problem}")
