"""Commands of the CRM in the box that answer a person in lines or, with `--json`, a script in JSON."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from crmbox.management.store_command import StoreCommand


class JsonCommand(StoreCommand):
    """A command with the option `--json`, by which standard output holds one JSON value, whatever happens.

    `handle` gives its report to `write_json`. Where it raises CommandError without one, the report is
    `failure_report`. The designer's commands have a class like this of their own: neither part may import the
    other, and the library that both know has no Django.
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
                self.write_json(self.failure_report(error))
            raise

    def write_json(self, report: Any) -> None:
        """Write the report, as the only one of the command."""
        self._has_reported = True
        self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))

    def failure_report(self, error: CommandError) -> dict[str, Any]:
        """Return the report of a run that could not do its work."""
        return {"result": "failed", "problems": [str(error)]}
