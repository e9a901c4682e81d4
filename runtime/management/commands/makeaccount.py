"""Make an API account, for systems that are set up by scripts."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.management.database_command import DatabaseCommand
from designer.models import CallerType, Role
from designer.names import USER_TYPE
from runtime.callers.account_form import AccountForm
from runtime.callers.recordless_callers import finding_of

_PASSWORD_BYTES = 24
# The option of this command for each field of the form.
_OPTIONS = {
    "caller_type": "--type",
    "platform_user": "--record",
    "record": "--record",
    "rate": "--rate",
    "roles": "--role",
}


class Command(DatabaseCommand):
    help = (
        "Make an API account. Its password is made, too, and printed this once, or read from standard input. "
        "Exits with 1, and makes nothing, where something is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="What POST /api/token is sent with.")
        parser.add_argument(
            "--type", default=USER_TYPE, metavar="NAME", help="The caller type. Default: user."
        )
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            metavar="NAME",
            help="A role of the account. May be given several times.",
        )
        parser.add_argument(
            "--record",
            default="",
            metavar="ID",
            help="The record that its calls stand for: a user for the type user, a contact for the type "
            "contact. Accounts of the type service have none.",
        )
        parser.add_argument(
            "--rate", type=int, default=0, metavar="NUMBER", help="Its own limit of requests a minute."
        )
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="Read the password from standard input, up to the end of the line.",
        )

    def handle(
        self,
        *args: Any,
        username: str,
        type: str,
        role: list[str],
        record: str,
        rate: int,
        password_stdin: bool,
        **options: Any,
    ) -> None:
        """Make the account, and print its password unless it was read. Raises CommandError that names every
        mistake.
        """
        password = (
            sys.stdin.readline().rstrip("\r\n") if password_stdin else secrets.token_urlsafe(_PASSWORD_BYTES)
        )
        roles = Role.objects.in_bulk(role, field_name="name")
        form = AccountForm(
            {
                "username": username,
                "password": password,
                "active": True,
                "roles": [row.pk for row in roles.values()],
                "caller_type": type,
                "platform_user" if type == USER_TYPE else "record": record,
                "rate": rate,
            }
        )
        problems = [
            *_lines_about_unknown_names(type, [name for name in role if name not in roles]),
            *_lines_about_form(form),
        ]
        if problems or not form.is_valid():
            raise CommandError("\n".join(("No account was made.", *problems)))
        account = form.save()
        # The form strips spaces around the name.
        self.stdout.write(f"The account {account.user.username} was made.")
        if not password_stdin:
            self.stdout.write(f"Its password is shown this once: {password}")
        if finding := finding_of(account):
            self.stderr.write(finding)
            self.stderr.write("The account's page in the studio takes a record. Next time, give --record.")


def _lines_about_unknown_names(type: str, roles: Sequence[str]) -> Iterator[str]:
    """Yield a line for an unknown caller type, and for each of `roles`, which do not exist."""
    types = sorted(CallerType.objects.values_list("name", flat=True))
    if type not in types:
        yield f"--type: There is no caller type {type}. Known: {', '.join(types)}."
    role_names = ", ".join(sorted(Role.objects.values_list("name", flat=True))) or "none"
    for name in roles:
        yield f"--role: There is no role {name}. Known: {role_names}."


def _lines_about_form(form: AccountForm) -> Iterator[str]:
    """Yield a line for each error of the form, with the option of this command in place of the field."""
    for field, errors in form.errors.items():
        # `_lines_about_unknown_names` reports a type that does not exist.
        if field != "caller_type":
            yield from (f"{_OPTIONS.get(field, field)}: {error}" for error in errors)
