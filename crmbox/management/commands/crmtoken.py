"""Print a bearer token of a system user for the CRM server."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from crmbox.management.json_command import JsonCommand
from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.tokens import mint
from crmclient.errors import PlatformError
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.values import Guid, parse_guid

LONGEST_MINUTES = 60 * 24 * 365


class Command(JsonCommand):
    help = __doc__
    json_help = "Write the token, or why there is none, as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--user", required=True, help="A system user's id or domain name.")
        parser.add_argument("--minutes", type=int, default=60, help="How long the token is good for.")

    def handle(self, *args: Any, **options: Any) -> None:
        minutes = options["minutes"]
        if not 0 < minutes <= LONGEST_MINUTES:
            raise CommandError(f"--minutes: write a whole number from 1 to {LONGEST_MINUTES}.")
        try:
            token = mint(_user(options["user"]), minutes * 60)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["as_json"]:
            self.write_json({"result": "made", "token": token, "seconds": minutes * 60})
        else:
            self.stdout.write(token)


def _user(text: str) -> Guid:
    """Return the id of the user whose id or domain name is `text`.

    Raises CommandError unless exactly one enabled user is meant.
    """
    try:
        condition = Condition("systemuserid", Operator.EQ, (parse_guid(text),))
    except ValueError:
        condition = Condition("domainname", Operator.EQ, (text,))
    # Two rows are enough to know that the name is not unique.
    columns = (Column("systemuserid"), Column("isdisabled"))
    rows = EmbeddedPlatform().query(Query("systemuser", columns, Filter((condition,)), top=2)).rows
    if len(rows) != 1:
        raise CommandError(f"--user: {'no' if not rows else 'more than one'} system user is {text!r}.")
    if rows[0]["isdisabled"]:
        raise CommandError(f"--user: the system user {text!r} is disabled.")
    return str(rows[0]["systemuserid"])
