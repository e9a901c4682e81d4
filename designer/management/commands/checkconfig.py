"""Check the whole configuration against the platform, for people and for pipelines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.overview import overview
from designer.readiness import Finding, State


class Command(BaseCommand):
    help = "Check every enabled endpoint and user property. Exits with 1 when something cannot be served."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write the findings as JSON.")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        seen = overview()
        findings = seen.findings
        blocking = sum(finding.is_blocking for finding in findings)
        if as_json:
            report = {
                "blocking": blocking,
                "states": {state.value: seen.counts.get(state, 0) for state in State},
                "findings": [finding.to_json() for finding in findings],
            }
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        else:
            self._write(findings)
        if blocking:
            raise CommandError(f"{blocking} blocking.", returncode=1)

    def _write(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self.stdout.write(
                f"{finding.severity.value:8}  {finding.subject}: {finding.message} [{finding.rule}]"
            )
        if not findings:
            self.stdout.write("Nothing found: everything that is enabled can be served.")
