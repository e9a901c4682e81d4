"""Bring the configuration to the state that a document or a folder describes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.documents.judgement import Judgement, Refused
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS
from designer.history.recording import Author, Origin
from designer.history.refused_changes import ProtectionRefused
from designer.history.restoration import newest_version, require_version
from designer.imports.document_import import Source, import_source, preview_source
from designer.imports.import_report import report_on
from designer.management.document_source import add_source_arguments, source_of
from designer.management.json_command import JsonCommand, Refusal
from designer.management.report_lines import (
    affected_lines,
    count_in_words,
    effect_lines,
    failure_lines,
    kept_lines,
    taken_back_lines,
)
from designer.proposals.new_proposals import open_source
from designer.proposals.proposal_json import proposal_json
from designer.readiness import Finding

# The report on a document that cannot be read has all members of a judgement, so that scripts find them.
UNREAD: dict[str, Any] = {
    "blocking": 0,
    "changes": [],
    "reordered": False,
    "findings": [],
    "standing": [],
    "calls": [],
    "protected": [],
    "effect": None,
    "effects": [],
    "affected": [],
    "taken_back": [],
    "kept": [],
}

# Whoever has a shell of the service may change everything.
AUTHOR = Author(
    origin=Origin.COMMAND,
    note="importconfig",
    may_change_write_access=True,
    may_administer=True,
    # A pipeline has the report of a dry run, and nobody to answer.
    answered=QUESTIONS,
)
# Exit codes besides 0 and 1.
CHANGES = 3
PROPOSED = 4


class Command(JsonCommand):
    help = (
        "Import a configuration document, all or nothing. Exits with 1, and changes nothing, when the "
        "document is wrong or would bring in what cannot be served; with 4 where it changes what is "
        "protected, and was opened as a proposal instead."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_source_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="Show the plan and every problem; change nothing."
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
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        file: str,
        dry_run: bool,
        delete: list[str],
        keep_later_changes: bool,
        allow_broken: bool,
        allow_failing_calls: bool,
        expect_version: int | None,
        exit_code: bool,
        values: Path | None,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Import the document, or only say what that would change. Raises CommandError; with `exit_code`,
        also when a dry run finds changes.
        """
        if exit_code and not dry_run:
            raise CommandError("--exit-code goes with --dry-run.")
        try:
            source = source_of(file, values, delete, keep_later_changes=keep_later_changes)
            if dry_run:
                require_version(expect_version)
                judged = preview_source(source)
                judged.require_acceptable(allow_broken=allow_broken, allow_failing_calls=allow_failing_calls)
            else:
                judged = import_source(
                    source,
                    AUTHOR,
                    allow_broken=allow_broken,
                    allow_failing_calls=allow_failing_calls,
                    expected_version=expect_version,
                )
        except ProtectionRefused as error:
            raise self._propose(source, file, error, as_json=as_json) from error
        except OSError as error:
            raise CommandError(f"{error.filename or file} cannot be read: {error.strerror}.") from error
        except DocumentError as error:
            refused = error.judgement if isinstance(error, Refused) else None
            if as_json:
                self._report("refused", refused, error.problems)
            elif refused is not None:
                self._write_plan(refused)
            raise CommandError(_refusal_text(refused, error.problems)) from error
        result = "unchanged" if judged.plan.does_nothing else "planned" if dry_run else "imported"
        if as_json:
            self._report(result, judged)
        else:
            self._write_plan(judged)
            self._write_findings(judged.findings)
            self._write_findings(judged.standing, "blocked before:")
            self._write_calls(judged)
            for finding in judged.protected:
                self.stdout.write(finding.message)
            self.stdout.write(_RESULTS[result])
        if exit_code and result == "planned":
            raise CommandError("The configuration is not as the document says.", returncode=CHANGES)

    def _propose(
        self, source: Source, file: str, refused: ProtectionRefused, *, as_json: bool
    ) -> CommandError:
        """Open the whole document as a proposal. Return the error that the command ends with."""
        try:
            proposal = open_source(source, "", Path(file).name)
        except DocumentError as error:
            # Somebody has changed the configuration meanwhile.
            return Refusal("Nothing was changed.", error.problems)
        if as_json:
            report = {"result": "proposed", "version": newest_version(), **UNREAD, "problems": []}
            report |= {
                "protected": [finding.to_json() for finding in refused.findings],
                "proposal": proposal_json(proposal),
            }
            self.write_json(report)
        lines = [
            "Nothing that is live was changed.",
            *(str(finding.message) for finding in refused.findings),
            f"All of it was opened as proposal {proposal}. Publish it in the studio, or with publishproposal "
            f"{proposal.pk}.",
        ]
        return CommandError("\n".join(lines), returncode=PROPOSED)

    def _write_plan(self, judged: Judgement) -> None:
        """Write the plan and what it means to callers."""
        report = report_on(judged)
        for line in (
            *judged.plan.lines(),
            *effect_lines(report),
            *taken_back_lines(report),
            *kept_lines(report),
            *affected_lines(report),
        ):
            self.stdout.write(line)

    def _write_findings(self, findings: Iterable[Finding], *words: str) -> None:
        """Write a line for each finding, with `words` behind its severity."""
        for finding in findings:
            place = f"{finding.subject} {finding.field}".strip()
            severity = f"{finding.severity.value:8}"
            self.stdout.write(" ".join((severity, *words, f"{place}: {finding.message} [{finding.rule}]")))

    def _write_calls(self, judged: Judgement) -> None:
        """Write how many example calls were made, and what was wrong with them."""
        if judged.calls:
            self.stdout.write(count_in_words(judged.calls))
        for line in failure_lines(judged.calls):
            self.stdout.write(line)

    def _report(self, result: str, judged: Judgement | None, problems: Sequence[str] = ()) -> None:
        """Write the report as JSON. `judged` is None for a document that could not be read; `problems` say
        why.
        """
        members = UNREAD if judged is None else {**judged.to_json(), **report_on(judged).to_json()}
        texts = [str(problem) for problem in (problems if judged is None else judged.problems)]
        report = {"result": result, "version": newest_version(), **members, "problems": texts}
        self.write_json(report)


def _refusal_text(judged: Judgement | None, problems: Sequence[str]) -> str:
    """Return the text of the error: why nothing was changed, and which option would allow it.

    `judged` is None for a document that could not be read; `problems` say why.
    """
    lines = ["Nothing was changed.", *map(str, problems if judged is None else judged.problems)]
    if judged is not None and judged.blocking:
        lines += [f"{len(judged.blocking)} blocking: this could not be served afterwards."]
        lines += [
            f"  {' '.join((finding.subject, finding.field)).strip()}: {finding.message} [{finding.rule}]"
            for finding in judged.blocking
        ]
        lines.append("Correct the document, or use --allow-broken to import it anyway.")
    if judged is not None and judged.failed_calls:
        lines += [count_in_words(judged.calls), *failure_lines(judged.calls)]
        lines.append("Correct the document, or use --allow-failing-calls to import it anyway.")
    return "\n".join(lines)


_RESULTS = {
    "unchanged": "Nothing to change.",
    "planned": "This was a dry run: nothing was changed.",
    "imported": "Imported.",
}
