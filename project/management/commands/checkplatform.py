"""Whether the platform can be reached and used, from this machine and with these settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from designer.management.json_command import JsonCommand
from project.platform_steps import platform_steps, why_no_steps

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step


class Command(JsonCommand):
    help = (
        "Try step by step whether Dataverse can be reached and used: network, TLS, clock, tokens, who the "
        "service is there, the version, metadata, impersonation, fiscal years, the budget, each entity that "
        "the configuration reads, and each privilege that it needs to write. Writes nothing. Exits with 1 "
        "where a step fails."
    )

    json_help = "Write the steps as JSON: a list that is empty where the platform is not Dataverse."

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        """Print each step as it ends or, with `as_json`, all of them at the end. Raises CommandError when a
        step failed.
        """
        reason = why_no_steps()
        if reason is not None and not as_json:
            self.stdout.write(str(reason))
            return
        steps: list[Step] = []
        for step in platform_steps():
            steps.append(step)
            if not as_json:
                self.stdout.write(f"{step.outcome.value:8}{step.name}: {step.said}")
                if step.advice:
                    self.stdout.write(f"        {step.advice}")
        if as_json:
            self.write_json([asdict(step) for step in steps])
        failed = [step.name for step in steps if step.outcome == "failed"]
        if failed:
            raise CommandError(f"Failed: {', '.join(failed)}.", returncode=1)
