"""Bring the configuration to the state that a document or a folder describes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from designer.documents.judging import Judgement, Refused
from designer.documents.problems import DocumentError
from designer.documents.values_file import read_values
from designer.history.recording import Author, Origin
from designer.history.restoring import newest_version, require_version
from designer.import_report import report_on
from designer.importing import Source, import_source, preview_source
from designer.management.report_lines import affected, counted, effects, failures
from designer.management.values_option import add_values_option
from designer.readiness import Finding

# What is reported of a document that cannot be read: all members of a judgement, so that scripts find them.
UNREAD: dict[str, Any] = {
    "blocking": 0,
    "changes": [],
    "reordered": False,
    "findings": [],
    "standing": [],
    "calls": [],
    "effect": None,
    "effects": [],
    "affected": [],
}

# Whoever has a shell of the service may change everything.
AUTHOR = Author(origin=Origin.COMMAND, note="importconfig", may_change_write_access=True, may_administer=True)
CHANGES = 3


class Command(BaseCommand):
    help = (
        "Import a configuration document, all or nothing. Exits with 1, and changes nothing, when the "
        "document is wrong or would bring in what cannot be served."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            help="The JSON document, the folder that exportconfig --folder wrote, or - for standard input.",
        )
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
        parser.add_argument(
            "--allow-failing-calls",
            action="store_true",
            help="Import also where example calls would not be answered as expected.",
        )
        parser.add_argument(
            "--expect-version",
            type=int,
            metavar="NUMBER",
            help="Refuse where another version than this is the newest. configversions lists them.",
        )
        parser.add_argument(
            "--exit-code",
            action="store_true",
            help="With --dry-run: exit with 3 where something would change.",
        )
        add_values_option(parser)
        parser.add_argument("--json", action="store_true", dest="as_json", help="Write a report as JSON.")

    def handle(
        self,
        *args: Any,
        file: str,
        dry_run: bool,
        delete: list[str],
        allow_broken: bool,
        allow_failing_calls: bool,
        expect_version: int | None,
        exit_code: bool,
        values: Path | None,
        as_json: bool,
        **options: Any,
    ) -> None:
        if exit_code and not dry_run:
            raise CommandError("--exit-code goes with --dry-run.")
        try:
            source = _source(file, values, delete)
            if dry_run:
                require_version(expect_version)
                judged = preview_source(source)
                if not judged.is_acceptable(
                    allow_broken=allow_broken, allow_failing_calls=allow_failing_calls
                ):
                    raise Refused(judged)
            else:
                judged = import_source(
                    source,
                    AUTHOR,
                    allow_broken=allow_broken,
                    allow_failing_calls=allow_failing_calls,
                    expected_version=expect_version,
                )
        except OSError as error:
            raise CommandError(f"{error.filename or file} cannot be read: {error.strerror}.") from error
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
            self._write_calls(judged)
            self.stdout.write(_RESULTS[result])
        if exit_code and result == "planned":
            raise CommandError("The configuration is not as the document says.", returncode=CHANGES)

    def _write_plan(self, judged: Judgement) -> None:
        report = report_on(judged)
        for line in (*judged.plan.lines(), *effects(report), *affected(report)):
            self.stdout.write(line)

    def _write_findings(self, findings: Iterable[Finding], *words: str) -> None:
        for finding in findings:
            place = f"{finding.subject} {finding.field}".strip()
            severity = f"{finding.severity.value:8}"
            self.stdout.write(" ".join((severity, *words, f"{place}: {finding.message} [{finding.rule}]")))

    def _write_calls(self, judged: Judgement) -> None:
        if judged.calls:
            self.stdout.write(counted(judged.calls))
        for line in failures(judged.calls):
            self.stdout.write(line)

    def _report(self, result: str, judged: Judgement | None, problems: Sequence[str] = ()) -> None:
        told = UNREAD if judged is None else {**judged.to_json(), **report_on(judged).to_json()}
        wrong = [str(problem) for problem in (problems if judged is None else judged.problems)]
        report = {"result": result, "version": newest_version(), **told, "problems": wrong}
        self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))


def _source(file: str, values: Path | None, delete: Sequence[str]) -> Source:
    given = read_values(values) if values else {}
    if file != "-" and Path(file).is_dir():
        return Source.of_folder(Path(file), delete, given)
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return Source.of_document(raw, delete, given)


def _refusal(judged: Judgement | None, problems: Sequence[str]) -> str:
    lines = ["Nothing was changed.", *map(str, problems if judged is None else judged.problems)]
    if judged is not None and judged.blocking:
        lines += [f"{len(judged.blocking)} blocking: this could not be served afterwards."]
        lines += [
            f"  {' '.join((finding.subject, finding.field)).strip()}: {finding.message} [{finding.rule}]"
            for finding in judged.blocking
        ]
        lines.append("Mend the document, or use --allow-broken to import it all the same.")
    if judged is not None and judged.failed_calls:
        lines += [counted(judged.calls), *failures(judged.calls)]
        lines.append("Correct the document, or use --allow-failing-calls to import it all the same.")
    return "\n".join(lines)


_RESULTS = {
    "unchanged": "Nothing to change.",
    "planned": "This was a dry run: nothing was changed.",
    "imported": "Imported.",
}
