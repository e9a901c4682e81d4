"""Commands on a database without tables. Those with `--json` are asked in `test_json_commands.py`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.core.management import get_commands

from tests.project.test_json_commands import COMMANDS, OUR_APPS
from tests.servers import Site, free_port

pytestmark = pytest.mark.processes

# What each is asked for, so that it reads the database.
ASKED: dict[str, Sequence[str]] = {
    "crmdemo": (),
    "crmindex": ("account", "name"),
    "describe": (),
    "makeaccount": ("nora",),
}
# They make the tables, ask no database, or go on until there are tables.
OTHERS = {"prepare", "configschema", "makemessages", "serve", "crmserver"}


def test_each_command_is_asked_here() -> None:
    ours = {name for name, app in get_commands().items() if app in OUR_APPS}
    assert {*ASKED, *OTHERS, *COMMANDS} == ours


def test_a_command_says_that_the_database_is_to_be_prepared(empty_site: Site) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    organization = {
        "CRM_URL": nowhere,
        "CRM_TOKEN_URL": nowhere,
        "CRM_CLIENT_ID": "portico",
        "CRM_CLIENT_SECRET": "secret",
        "PLATFORM": "embedded",
    }
    for name, arguments in {**ASKED, "importmetadata": ("--organization", "--all")}.items():
        code, output = empty_site.run(name, *arguments, **organization)
        assert (code, "Run `manage.py prepare`." in output, "Traceback" in output) == (1, True, False), output


def test_a_file_that_is_not_there_is_named(empty_site: Site) -> None:
    code, output = empty_site.run("importmetadata", "missing.xml", "--all")
    told = "CommandError: missing.xml cannot be read: No such file or directory."
    assert (code, output.strip()) == (1, told)
