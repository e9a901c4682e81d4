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
            self.stdout.write("The CRM has entities of the demo already: nothing was loaded.")
            return
        load(Progress(self.stdout, "CRM demo").show)
