"""Make the whole configuration what it was at a version or a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read
from designer.documents.judgement import Judgement, Refused
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS
from designer.history.recording import Author, Origin
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import document_at, newest_version, preview_restore, restore
from designer.imports.import_report import report_on
from designer.management.json_command import JsonCommand, Refusal
from designer.management.release_number import release_number
from designer.management.report_lines import affected_lines, effect_lines
from designer.models import Release, Version


class Command(JsonCommand):
    help = (
        "Make the whole configuration what it was at a version or a release, as a new version. Exits with 1, "
        "and changes nothing, when that could not be served."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "version", type=int, nargs="?", help="Its number; configversions lists them. Or --release."
        )
        which.add_argument(
            "--release",
            type=release_number,
            metavar="NUMBER",
            help="The number of a release, such as 1.4, in place of a version.",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Show what would change, and every problem; change nothing.",
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        version: int | None,
        release: tuple[int, int] | None,
        dry_run: bool,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Make the configuration what a version or a release was, or only say what that would change. Raises
        Refusal when it cannot be done.
        """
        try:
            name, old_document = (
                _named_document_of_version(version)
                if version is not None
                else _named_document_of_release(release)
            )
            judged = preview_restore(old_document) if dry_run else restore(old_document, _author(name))
        except (DocumentError, ChangeRefused) as error:
            if as_json:
                refused = error.judgement if isinstance(error, Refused) else None
                self._report("refused", refused, error.problems)
            raise Refusal("Nothing was changed.", error.problems) from error
        result = "unchanged" if judged.plan.does_nothing else "planned" if dry_run else "restored"
        if as_json:
            self._report(result, judged)
            return
        report = report_on(judged)
        for line in (*judged.plan.lines(), *effect_lines(report), *affected_lines(report)):
            self.stdout.write(line)
        for finding in judged.protected:
            self.stdout.write(str(finding.message))
        self.stdout.write(_RESULTS[result].format(name))

    def _report(self, result: str, judged: Judgement | None, problems: Sequence[object] = ()) -> None:
        """Write the report as JSON. `judged` is None where nothing could be judged; `problems` say why."""
        members = {} if judged is None else {**judged.to_json(), **report_on(judged).to_json()}
        report = {"result": result, "version": newest_version(), **members, "problems": [*map(str, problems)]}
        self.write_json(report)


def _named_document_of_version(version: int) -> tuple[str, ConfigurationDocument]:
    """Return a version's name and configuration. Raises CommandError, and as `document_at`."""
    if not Version.objects.filter(pk=version).exists():
        raise CommandError(f"There is no version {version}. configversions lists them.")
    return f"version {version}", document_at(version)


def _named_document_of_release(number: tuple[int, int] | None) -> tuple[str, ConfigurationDocument]:
    """Return a release's name and configuration. Raises CommandError and DocumentError."""
    # The parser demands a version or a release, so None never gets here.
    major, minor = number or (0, 0)
    release = Release.objects.filter(major=major, minor=minor).first()
    if release is None:
        made = ", ".join(release.number for release in Release.objects.defer("document")) or "none"
        raise CommandError(f"There is no release {major}.{minor}. Releases: {made}.")
    return f"release {release.number}", read(release.document.encode())


def _author(name: str) -> Author:
    """Return the author of a restore of the version or release `name`."""
    # Whoever has a shell of the service may change everything.
    return Author(
        origin=Origin.RESTORE,
        note=f"restoreconfig: {name}",
        may_change_write_access=True,
        may_administer=True,
        answered=QUESTIONS,
    )


_RESULTS = {
    "unchanged": "Nothing to change: the configuration is as it was at {}.",
    "planned": "This was a dry run: nothing was changed.",
    "restored": "Restored: the configuration is as it was at {}.",
}
