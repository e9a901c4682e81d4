"""The demo: a CRM with data, its configuration, and accounts to try it with. For an empty database only."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from io import TextIOBase

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction

from designer.models import Endpoint, Module
from project.demo_accounts import API_ACCOUNTS, STUDIO_ACCOUNTS, create_accounts

CONFIGURATION = settings.BASE_DIR / "demo" / "configuration.json"
# Beside the specification's seven user properties, which the demo has; for whoever imports them.
MORE_USER_PROPERTIES = settings.BASE_DIR / "demo" / "more-user-properties.json"
# Who is in which team: records that are associated, for whoever imports them.
TEAM_MEMBERS = settings.BASE_DIR / "demo" / "team-members.json"
PASSWORD = "demo"  # noqa: S105  published on purpose; production refuses to start with it
ACCOUNTS = (*API_ACCOUNTS, *STUDIO_ACCOUNTS)
ACCOUNTS_LINE = (
    f"Demo accounts: {', '.join(API_ACCOUNTS)} (API), {', '.join(STUDIO_ACCOUNTS)} (studio); "
    f"password: {PASSWORD}"
)


def is_wanted() -> bool:
    """Whether the database has nothing that a person may have made: no account, no module, no endpoint."""
    return not (get_user_model().objects.exists() or Module.objects.exists() or Endpoint.objects.exists())


def load(passwords: Mapping[str, str], out: TextIOBase) -> None:
    """Fill an empty database. The rows by which a database counts as filled come last, in one transaction."""
    call_command("crmdemo", stdout=out)
    with transaction.atomic():
        # `allow_broken`: an earlier import of `$metadata` may have made entities of the demo in another way,
        # such as choices as numbers. The import names these and blocks a few endpoints: the rest is served.
        call_command("importconfig", str(CONFIGURATION), allow_broken=True, stdout=out)
        create_accounts(passwords)


def passwords(*, random: bool) -> dict[str, str]:
    """Return a password for every demo account: the published one or, with `random`, one of its own."""
    return {name: secrets.token_urlsafe(12) if random else PASSWORD for name in ACCOUNTS}


def accounts_with_the_demo_password() -> list[str]:
    """Return the names of the demo's accounts whose password is the published one."""
    accounts = get_user_model().objects.filter(username__in=ACCOUNTS).order_by("username")
    return [account.get_username() for account in accounts if account.check_password(PASSWORD)]


def change_passwords(passwords: Mapping[str, str]) -> None:
    """Give accounts new passwords, by their names."""
    for account in get_user_model().objects.filter(username__in=passwords):
        account.set_password(passwords[account.get_username()])
        account.save(update_fields=["password"])
