"""Fill an empty CRM with the demo's entities and records."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from crmbox.demo.load import is_wanted, load
from crmbox.management.progress import Progress


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_wanted():
            self.stdout.write("The CRM has records of the demo's entities already: nothing was loaded.")
            return
        for problem in load(Progress(self.stdout, "CRM demo").show):
            self.stdout.write(f"The demo cannot serve {problem}")
