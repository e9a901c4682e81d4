"""Whether the platform can be reached and used, from this machine and with these settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.overview import overview
from designer.platform import get_platform
from project import applications

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step


class Command(BaseCommand):
    help = (
        "Try step by step whether Dataverse can be reached and used: network, TLS, clock, tokens, who the "
        "service is there, metadata, impersonation, and each entity that the configuration reads. Writes "
        "nothing. Exits with 1 where a step fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write the steps as JSON.")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        if not settings.PORTICO["CRM_URL"]:
            self.stdout.write("The platform is the CRM in the box: there is nothing to reach.")
            return
        steps: list[Step] = []
        for step in _steps():
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


def _steps() -> Iterator[Step]:
    # Not loaded by a service that has its platform in the box.
    from crmclient.dataverse.checkup import Outcome, authorized, reached, readable, used
    from crmclient.dataverse.options import Options

    env = settings.PORTICO
    options = Options(env["CRM_URL"], timeout=float(env["PLATFORM_TIMEOUT"]))
    scope = f"{options.root}/.default"
    parts: tuple[Callable[[], Iterator[Step]], ...] = (
        lambda: reached(options),
        lambda: authorized(
            {client.id: client.tokens(scope) for client in applications.of_the_platform()}, options
        ),
        lambda: used(get_platform(), impersonates=bool(env["CRM_IMPERSONATE"])),
        lambda: readable(get_platform(), overview().metadata.asked),
    )
    for part in parts:
        has_failed = False
        for step in part():
            has_failed = has_failed or step.outcome is Outcome.FAILED
            yield step
        # What follows would fail for the same reason.
        if has_failed:
            return
