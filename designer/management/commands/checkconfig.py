"""Check a whole configuration, stored or in a document, for people and for pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read_named
from designer.documents.environment_values import ValueSources
from designer.documents.folder_reader import read_folder
from designer.documents.judgement import judge_alone
from designer.documents.problems import DocumentError, PartlyRead
from designer.documents.values_file import read_values
from designer.example_calls.call_runs import CallResult, run_all
from designer.example_calls.junit import report
from designer.imports.records_by_key import UnaskedRecords
from designer.management.json_command import JsonCommand, Refusal
from designer.management.report_lines import count_in_words, failure_lines
from designer.management.values_option import add_values_option
from designer.overview import Overview, overview
from designer.readiness import Finding, Metadata, State
from designer.readiness.findings import UNCHECKED
from designer.readiness.recorded_metadata import RecordedMetadata, UnreadableMetadata, read_record


class Command(JsonCommand):
    help = (
        "Check every enabled endpoint, user property and issuer, stored or in a document. Exits with 1 when "
        "something cannot be served. A document is judged by a metadata file, without database and platform."
    )
    # A document is judged where no database is.
    requires_migrations_checks = False
    requires_system_checks = []
    json_help = "Write the findings as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="A JSON document, or a folder that exportconfig --folder wrote. Default: what is stored.",
        )
        parser.add_argument(
            "--metadata", type=Path, metavar="FILE", help="What exportmetadata wrote; goes with a document."
        )
        add_values_option(parser)
        parser.add_argument(
            "--calls",
            action="store_true",
            help="Make the example calls of what is stored and served, too. No record is changed.",
        )
        parser.add_argument(
            "--junit", type=Path, metavar="FILE", help="Goes with --calls: write their results as JUnit XML."
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        file: Path | None,
        metadata: Path | None,
        values: Path | None,
        calls: bool,
        junit: Path | None,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Judge what is stored or, by the metadata in a file, a document. Raises CommandError when something
        blocks, could not be judged, or an example call has failed.
        """
        if (file is None) != (metadata is None):
            raise CommandError(
                "A document and --metadata go together. For what is stored, give neither; to see what a "
                "document would change here, use importconfig --dry-run."
            )
        if junit is not None and not calls:
            raise CommandError("--junit goes with --calls.")
        if calls and file is not None:
            raise CommandError(
                "--calls asks the platform, and goes without a document. importconfig --dry-run makes the "
                "calls of a document."
            )
        problems: Sequence[str] = ()
        unjudged: Sequence[str] = ()
        if file is None or metadata is None:
            checked = overview()
            findings: Sequence[Finding] = checked.findings
        else:
            recorded = _read_metadata(metadata)
            problems, checked = _judge(file, values, recorded)
            # No platform is asked: what could not be checked is what the file lacks.
            findings = [finding for finding in checked.findings if finding.rule != UNCHECKED]
            unjudged = [*_sentences_on_lacking(metadata, recorded)]
        results = _run_calls(checked, junit) if calls else ()
        failed = sum(result.failed for result in results)
        blocking = sum(finding.is_blocking for finding in findings)
        if as_json:
            report = {
                "blocking": blocking,
                "problems": [*map(str, problems), *unjudged],
                "states": {state.value: checked.counts.get(state, 0) for state in State},
                "findings": [finding.to_json() for finding in findings],
                "calls": [result.to_json() for result in results],
            }
            self.write_json(report)
        else:
            self._write_findings([*problems, *unjudged], findings)
            if calls:
                self.stdout.write(count_in_words(results))
            for line in failure_lines(results):
                self.stdout.write(line)
        # A list times False is empty, so only what is wrong is told.
        wrong = ["This cannot be imported."] * bool(problems)
        wrong += ["Not everything could be judged."] * bool(unjudged)
        wrong += [f"{blocking} blocking."] * bool(blocking)
        wrong += [f"{failed} of {len(results)} example calls failed."] * bool(failed)
        if wrong:
            raise CommandError(" ".join(wrong), returncode=1)

    def _write_findings(self, problems: Sequence[str], findings: Sequence[Finding]) -> None:
        """Write a line for each problem and each finding, or one that says that there are none."""
        for problem in problems:
            self.stdout.write(str(problem))
        for finding in findings:
            place = f"{finding.subject} {finding.field}".strip()
            self.stdout.write(f"{finding.severity.value:8}  {place}: {finding.message} [{finding.rule}]")
        if not findings and not problems:
            self.stdout.write("Nothing found: everything that is enabled can be served.")


def _run_calls(checked: Overview, junit: Path | None) -> Sequence[CallResult]:
    """Run the example calls of what can be served, and write `junit`."""
    blocked = {finding.subject for finding in checked.findings if finding.is_blocking}
    results = run_all(checked.configuration, without=blocked)
    if junit is not None:
        try:
            junit.write_bytes(report(results))
        except OSError as error:
            raise CommandError(f"{junit} cannot be written: {error.strerror}.") from error
    return results


def _read_metadata(file: Path) -> RecordedMetadata:
    """Read a metadata file. Raises CommandError."""
    try:
        return RecordedMetadata(read_record(file.read_bytes()))
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except UnreadableMetadata as error:
        raise CommandError(f"{file} is no metadata file. Write one with exportmetadata.\n{error}") from error


def _judge(file: Path, values: Path | None, recorded: RecordedMetadata) -> tuple[Sequence[str], Overview]:
    """Judge the document in `file` by recorded metadata.

    Return its problems and its overview. Raises CommandError.
    """
    try:
        try:
            return judge_alone(_read_document(file, values, recorded), recorded)
        except PartlyRead as error:
            # What could be read is still judged, so that the author learns all problems at once.
            problems, checked = judge_alone(error.rest, recorded, error.gaps)
            names = [sentence for query in error.queries for sentence in query.unknown_names(recorded)]
            return [*error.problems, *names, *problems], checked
    except OSError as error:
        raise CommandError(f"{error.filename or file} cannot be read: {error.strerror}.") from error
    except DocumentError as error:
        raise Refusal("This cannot be imported.", error.problems) from error


def _sentences_on_lacking(file: Path, recorded: RecordedMetadata) -> Iterator[str]:
    """Yield what a metadata file does not say, although the document was to be judged by it."""
    if names := sorted(recorded.lacking):
        options = " ".join(f"--entity {name}" for name in names)
        yield (
            f"{file} does not say what these entities have: {', '.join(names)}. Write it anew with "
            f"exportmetadata {options}."
        )


def _read_document(file: Path, values: Path | None, metadata: Metadata) -> ConfigurationDocument:
    """Return the document in a file or folder. Raises DocumentError and OSError.

    Records that it names by a key get made-up ids, because no platform is asked.
    """
    sources = ValueSources(UnaskedRecords(metadata), read_values(values) if values else {})
    if file.is_dir():
        return read_folder(file, sources).document
    return read_named(file.read_bytes(), sources)[0]
