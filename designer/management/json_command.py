"""Commands that answer a person in lines or, with `--json`, a script in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.management.database_command import DatabaseCommand


class Refusal(CommandError):
    """What was asked for was refused: a headline, and each of `problems` in a line of its own."""

    def __init__(self, headline: str, problems: Iterable[object]) -> None:
        texts = [*map(str, problems)]
        super().__init__("\n".join([headline, *texts]))
        self.report = {"result": "refused", "problems": texts}


def failure_report(error: Exception) -> dict[str, Any]:
    """Return the report of a command that could not do its work."""
    return {"result": "failed", "problems": [str(error)]}


class JsonCommand(DatabaseCommand):
    """A command with the option `--json`, by which standard output holds one JSON value, whatever happens.

    `handle` gives its report to `write_json`. Where it raises CommandError without one, the report is that of
    a Refusal or, for everything else, `failure_report`.
    """

    json_help = "Write a report as JSON."

    _has_reported = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help=self.json_help)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. With `--json`, an error without a report is reported as JSON before it is raised
        again.
        """
        self._has_reported = False
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if options["as_json"] and not self._has_reported:
                self.write_json(error.report if isinstance(error, Refusal) else failure_report(error))
            raise

    def write_json(self, report: Any) -> None:
        """Write the report, as the only one of the command."""
        self._has_reported = True
        self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
