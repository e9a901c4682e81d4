"""Releases by commands: made of what is there, and served again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.models import AuditEntry, Endpoint, Input, Release, Version
from tests.callers import Caller
from tests.designer.commands import refused, run
from tests.designer.test_importing import changed, now, unknown_column

pytestmark = pytest.mark.usefixtures("portico")


def test_a_release_is_made_with_the_number_and_changelog_that_are_proposed() -> None:
    assert run("makerelease", "--name", "Spring") == "Release 1.0 Spring is made.\n"
    assert Release.objects.get().document.encode() == now()
    assert AuditEntry.objects.filter(action="release", subject="1.0 Spring").exists()

    Input.objects.filter(name="phone", endpoint__entity__segment="accounts").update(required=True)
    planned = run("makerelease", "--dry-run")
    assert "input “phone”: became required" in planned
    assert planned.endswith("It would be release 2.0. This was a dry run: nothing was made.\n")
    assert Release.objects.count() == 1
    report = json.loads(run("makerelease", "--json"))
    assert {name: report[name] for name in ("result", "release", "since", "effect")} == {
        "result": "made",
        "release": "2.0",
        "since": "1.0",
        "effect": "breaking",
    }
    assert report["changelog"].startswith("Breaking:\n- endpoint sales.accounts.create: input “phone”")


def test_number_and_changelog_can_be_given(tmp_path: Path) -> None:
    changelog = tmp_path / "changelog.txt"
    changelog.write_text("Orders can be read.\n", encoding="utf-8")
    assert "Release 3.7 is made." in run("makerelease", "--number", "3.7", "--changelog", changelog)
    release = Release.objects.get()
    assert (release.number, release.changelog) == ("3.7", "Orders can be read.")
    assert "Nothing has changed since release 3.7." in run("makerelease", "--dry-run")


def test_what_is_wrong_is_said_and_no_release_is_made(tmp_path: Path) -> None:
    run("makerelease")
    text = tmp_path / "changelog.txt"
    text.write_bytes(b"\xff")
    assert "number already" in refused("makerelease", "--number", "1.0")
    assert "--name: Ensure this value has at most 100" in refused("makerelease", "--name", "n" * 101)
    assert "no text in UTF-8" in refused("makerelease", "--changelog", text)
    text.write_bytes(b"\0")
    assert "NUL" in refused("makerelease", "--changelog", text)
    assert "cannot be read" in refused("makerelease", "--changelog", tmp_path / "missing")
    for number in ("1", "one.two", "1.2.3", "-1.0", f"1.{2**31}"):
        assert "two whole numbers, such as 1.4" in refused("makerelease", f"--number={number}")
    Endpoint.objects.filter(kind="local-option-set").update(settings={"odd": 1})
    assert "cannot be exported" in refused("makerelease")
    assert Release.objects.count() == 1


def test_a_release_is_served_again(rita: Caller) -> None:
    run("makerelease")
    released = now()
    Input.objects.filter(name="phone").update(required=True)
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 400
    planned = run("restoreconfig", "--release", "1.0", "--dry-run")
    assert planned.endswith("This was a dry run: nothing was changed.\n")
    assert now() != released
    assert "as it was at release 1.0" in run("restoreconfig", "--release", "1.0")
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    assert now() == released
    assert Version.objects.latest("id").note == "restoreconfig: release 1.0"
    assert json.loads(run("restoreconfig", "--release", "1.0", "--json"))["result"] == "unchanged"
    assert "There is no release 4.0. Releases: 1.0." in refused("restoreconfig", "--release", "4.0")
    assert "required" in refused("restoreconfig")
    assert "not allowed with" in refused("restoreconfig", 1, "--release", "1.0")


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_what_could_not_be_served_is_told_by_a_dry_run_too(dry: list[str]) -> None:
    Release.objects.create(major=1, minor=0, document=changed(unknown_column).decode())
    before = now()
    assert "could no longer be served" in refused("restoreconfig", "--release", "1.0", *dry)
    said = refused("restoreconfig", "--release", "1.0", "--json", *dry)
    report = json.loads(said[: said.rindex("}") + 1])
    assert report["result"] == "refused"
    assert any("gone" in finding["message"] for finding in report["findings"])
    assert now() == before
