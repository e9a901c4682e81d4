"""Commands that write one JSON value to standard output, whatever comes of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from crmbox.demo import people

pytestmark = pytest.mark.usefixtures("portico")


def reported(*args: str) -> Any:
    """What the command writes, which says the same as its error where it fails."""
    output, problems = io.StringIO(), []
    try:
        call_command(*args, "--json", stdout=output)
    except CommandError as error:
        problems.append(str(error))
    report = json.loads(output.getvalue())
    assert not problems or report == {"result": "failed", "problems": problems}
    return report


@pytest.mark.parametrize(
    ("args", "result"),
    [
        (("exportconfig", "--output", "{}/configuration.json"), "exported"),
        (("exportconfig", "--folder", "{}/configuration"), "exported"),
        (("exportconfig", "--output", "{}/none/configuration.json"), "failed"),
        (("exportconfig", "--module", "nowhere"), "failed"),
        (("exportmetadata", "--output", "{}/metadata.json"), "exported"),
        (("exportmetadata", "--output", "{}/none/metadata.json"), "failed"),
        (("exportmetadata", "--entity", "nothing"), "failed"),
        (("tidy",), "tidied"),
        (("crmtoken", "--user", people.RITA_REP), "made"),
        (("crmtoken", "--user", "nobody"), "failed"),
        (("crmtoken", "--user", people.RITA_REP, "--minutes", "0"), "failed"),
    ],
)
def test_a_command_reports_in_json(tmp_path: Path, args: tuple[str, ...], result: str) -> None:
    assert reported(*(arg.format(tmp_path) for arg in args))["result"] == result


def test_what_is_exported_to_standard_output_is_the_report() -> None:
    assert "endpoints" in reported("exportconfig")
    assert "account" in reported("exportmetadata")["entities"]


def test_what_was_removed_is_counted() -> None:
    assert reported("tidy")["removed"]["Idempotency keys"] == 0


def test_a_token_says_how_long_it_is_good_for() -> None:
    made = reported("crmtoken", "--user", people.RITA_REP, "--minutes", "5")
    assert made["token"].count(".") >= 1
    assert made["seconds"] == 300
