"""Print a bearer token of a system user for the CRM server."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.tokens import mint
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.values import Guid, parse_guid

LONGEST_MINUTES = 60 * 24 * 365


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="A system user's id or domain name.")
        parser.add_argument("--minutes", type=int, default=60, help="How long the token is good for.")

    def handle(self, *args: Any, **options: Any) -> None:
        minutes = options["minutes"]
        if not 0 < minutes <= LONGEST_MINUTES:
            raise CommandError(f"--minutes: write a whole number from 1 to {LONGEST_MINUTES}.")
        self.stdout.write(mint(_user(options["user"]), minutes * 60))


def _user(text: str) -> Guid:
    """Return the id of the user. Raises CommandError unless exactly one enabled user is meant."""
    try:
        condition = Condition("systemuserid", Operator.EQ, (parse_guid(text),))
    except ValueError:
        condition = Condition("domainname", Operator.EQ, (text,))
    columns = (Column("systemuserid"), Column("isdisabled"))
    rows = EmbeddedPlatform().query(Query("systemuser", columns, Filter((condition,)), top=2)).rows
    if len(rows) != 1:
        raise CommandError(f"--user: {'no' if not rows else 'more than one'} system user is {text!r}.")
    if rows[0]["isdisabled"]:
        raise CommandError(f"--user: the system user {text!r} is disabled.")
    return str(rows[0]["systemuserid"])
