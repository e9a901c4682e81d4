"""Bring the configuration to the state that a JSON document describes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.judging import Judgement, Refused
from designer.documents.problems import DocumentError
from designer.history.recording import Author, Origin
from designer.importing import import_document, preview
from designer.readiness import Finding


class Command(BaseCommand):
    help = (
        "Import a configuration document, all or nothing. Exits with 1, and changes nothing, when the "
        "document is wrong or would bring in what cannot be served."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="The document; - for standard input.")
        parser.add_argument(
            "--dry-run", action="store_true", help="Show the plan and every problem; change nothing."
        )
        parser.add_argument(
            "--delete",
            action="append",
            default=[],
            metavar="MODULE",
            help="Remove what the document lacks in this module; “context” for roles and user properties, "
            "“optionsets” for global option sets. May be given several times.",
        )
        parser.add_argument(
            "--allow-broken",
            action="store_true",
            help="Import what cannot be served, too: calls of it answer 503.",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write a report as JSON.")

    def handle(
        self,
        *args: Any,
        file: str,
        dry_run: bool,
        delete: list[str],
        allow_broken: bool,
        as_json: bool,
        **options: Any,
    ) -> None:
        try:
            raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            judged = self._import(raw, delete, dry_run=dry_run, allow_broken=allow_broken)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except DocumentError as error:
            refused = error.judgement if isinstance(error, Refused) else None
            if as_json:
                self._report("refused", refused, error.problems)
            elif refused is not None:
                self._write_plan(refused)
            raise CommandError(_refusal(refused, error.problems)) from error
        result = "unchanged" if judged.plan.does_nothing else "planned" if dry_run else "imported"
        if as_json:
            self._report(result, judged)
        else:
            self._write_plan(judged)
            self._write_findings(judged.findings)
            self._write_findings(judged.standing, "blocked before:")
            self.stdout.write(_RESULTS[result])

    def _import(self, raw: bytes, delete: Sequence[str], *, dry_run: bool, allow_broken: bool) -> Judgement:
        if not dry_run:
            # Whoever has a shell of the service may change everything.
            author = Author(origin=Origin.COMMAND, note="importconfig", may_change_write_access=True)
            return import_document(raw, delete, author, allow_broken=allow_broken)
        judged = preview(raw, delete)
        if judged.problems or (judged.blocking and not allow_broken):
            raise Refused(judged)
        return judged

    def _write_plan(self, judged: Judgement) -> None:
        for line in judged.plan.lines():
            self.stdout.write(line)

    def _write_findings(self, findings: Iterable[Finding], *words: str) -> None:
        for finding in findings:
            place = f"{finding.subject} {finding.field}".strip()
            severity = f"{finding.severity.value:8}"
            self.stdout.write(" ".join((severity, *words, f"{place}: {finding.message} [{finding.rule}]")))

    def _report(self, result: str, judged: Judgement | None, problems: Sequence[str] = ()) -> None:
        told = {} if judged is None else judged.to_json()
        wrong = [str(problem) for problem in (problems if judged is None else judged.problems)]
        report = {"result": result, **told, "problems": wrong}
        self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))


def _refusal(judged: Judgement | None, problems: Sequence[str]) -> str:
    lines = ["Nothing was changed.", *map(str, problems if judged is None else judged.problems)]
    if judged is not None and judged.blocking:
        lines += [f"{len(judged.blocking)} blocking: this could not be served afterwards."]
        lines += [
            f"  {' '.join((finding.subject, finding.field)).strip()}: {finding.message} [{finding.rule}]"
            for finding in judged.blocking
        ]
        lines.append("Mend the document, or use --allow-broken to import it all the same.")
    return "\n".join(lines)


_RESULTS = {
    "unchanged": "Nothing to change.",
    "planned": "This was a dry run: nothing was changed.",
    "imported": "Imported.",
}
