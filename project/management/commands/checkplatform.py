"""Whether the platform can be reached and used, from this machine and with these settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from project.platform_steps import platform_steps

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step


class Command(BaseCommand):
    help = (
        "Try step by step whether Dataverse can be reached and used: network, TLS, clock, tokens, who the "
        "service is there, metadata, impersonation, fiscal years, and each entity that the configuration "
        "reads. Writes nothing. Exits with 1 where a step fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write the steps as JSON.")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        if not settings.PORTICO["CRM_URL"]:
            self.stdout.write("The platform is the CRM in the box: there is nothing to reach.")
            return
        steps: list[Step] = []
        for step in platform_steps():
            steps.append(step)
            if not as_json:
                self.stdout.write(f"{step.outcome.value:8}{step.name}: {step.said}")
                if step.advice:
                    self.stdout.write(f"        {step.advice}")
        if as_json:
            self.stdout.write(json.dumps([asdict(step) for step in steps], ensure_ascii=False, indent=2))
        failed = [step.name for step in steps if step.outcome == "failed"]
        if failed:
            raise CommandError(f"Failed: {', '.join(failed)}.", returncode=1)
