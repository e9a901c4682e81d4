"""`--json`: standard output of a command then holds one JSON value and nothing else, whatever comes of it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from crmbox.demo import people
from project.demo import CONFIGURATION
from tests.crmbox.organization import ORGANIZATION
from tests.servers import COMMAND_SECONDS, ROOT, Site, free_port

OUR_APPS = {"project", "runtime", "designer", "crmbox"}


def with_json() -> Iterator[str]:
    """The commands of ours that have the option."""
    for name, app in get_commands().items():
        if app in OUR_APPS:
            parser = load_command_class(app, name).create_parser("manage.py", name)
            if any("--json" in action.option_strings for action in parser._actions):
                yield name


COMMANDS = sorted(with_json())
# What each is asked for, so that it reads the database.
ASKED: dict[str, Sequence[object]] = {
    "checkconfig": (),
    "checkplatform": (),
    "configversions": (),
    "crmtoken": ("--user", "crm"),
    "exportconfig": ("--output", "exported.json"),
    "exportmetadata": ("--output", "exported.json"),
    "importconfig": (CONFIGURATION,),
    "importmetadata": ("organization.xml", "--all"),
    "listproposals": (),
    "makerelease": (),
    "openproposal": (CONFIGURATION,),
    "publishproposal": (1,),
    "refreshmetadata": (),
    "restoreconfig": (1,),
    "tidy": (),
    "withdrawproposal": (1,),
}
# Those that ask no database where the platform is the CRM in the box, with what they report then.
WITHOUT_DATABASE = {
    "checkplatform": [],
    "refreshmetadata": {"result": "always_present", "missing_privileges": {}},
}
# What each refuses or cannot do, or says otherwise.
OTHERS: list[tuple[str, Sequence[object]]] = [
    ("checkconfig", (CONFIGURATION,)),
    ("checkconfig", (CONFIGURATION, "--metadata", "missing.json")),
    ("checkconfig", ("wrong.json", "--metadata", "metadata.json")),
    ("checkconfig", ("--junit", "calls.xml")),
    ("checkconfig", ("--calls",)),
    ("crmtoken", ("--user", "nobody")),
    ("crmtoken", ("--user", "crm", "--minutes", 0)),
    ("exportconfig", ()),
    ("exportconfig", ("--folder", "exported")),
    ("exportconfig", ("--module", "missing")),
    ("exportconfig", ("--output", "missing/exported.json")),
    ("exportmetadata", ("--entity", "missing", "--output", "exported.json")),
    ("exportmetadata", ("--entity", "account")),
    ("importconfig", ("missing.json",)),
    ("importconfig", ("wrong.json",)),
    ("importconfig", ("broken.json",)),
    ("importconfig", ("broken.json", "--dry-run")),
    ("importconfig", ("broken.json", "--exit-code")),
    ("importconfig", ("broken.json", "--values", "missing.yaml")),
    ("importconfig", ("changed.json", "--dry-run", "--exit-code")),
    ("importconfig", ("changed.json", "--expect-version", "999999")),
    ("importmetadata", ()),
    ("importmetadata", ("--organization",)),
    ("importmetadata", ("missing.json", "--all")),
    ("importmetadata", ("wrong.json", "--all")),
    ("importmetadata", ("organization.xml",)),
    ("importmetadata", ("organization.xml", "--entities", "nothing")),
    ("importmetadata", ("organization.xml", "--all", "--dry-run")),
    ("makerelease", ("--number", "1.0", "--changelog", "missing.txt")),
    ("makerelease", ("--name", "n" * 101)),
    ("makerelease", ("--dry-run",)),
    ("openproposal", ("missing.json",)),
    ("openproposal", ("wrong.json",)),
    ("openproposal", ("changed.json",)),
    ("publishproposal", (999_999, "--dry-run", "--go-back")),
    ("restoreconfig", (999_999,)),
    ("restoreconfig", ("--release", "9.9")),
]


def test_each_command_is_asked_here() -> None:
    assert sorted(ASKED) == COMMANDS


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the commands run in, with what they read."""
    monkeypatch.chdir(tmp_path)
    document = json.loads(CONFIGURATION.read_bytes())
    (read,) = (one for one in document["endpoints"] if _is_read_of_accounts(one))
    read["title"] = "Another title"
    contents = {"wrong": {"format": 2, "oddmember": []}, "changed": document}
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    read["columns"].append({"attribute": "gone"})
    (tmp_path / "broken.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "organization.xml").write_text(ORGANIZATION, encoding="utf-8")
    return tmp_path


def _is_read_of_accounts(endpoint: dict[str, Any]) -> bool:
    return (endpoint["kind"], endpoint.get("module"), endpoint.get("exposure")) == (
        "read",
        "sales",
        "accounts",
    )


@pytest.mark.parametrize(("name", "arguments"), [*ASKED.items(), *OTHERS])
def test_a_command_writes_json_alone(
    portico: None, files: Path, capfd: pytest.CaptureFixture[str], name: str, arguments: Sequence[object]
) -> None:
    if "metadata.json" in arguments:
        call_command("exportmetadata", "--output", "metadata.json")
    out = io.StringIO()
    try:
        call_command(name, *map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    except CommandError:
        report = json.loads(out.getvalue())
        assert isinstance(report, dict)
        told = [report.get(member) for member in ("problems", "refused", "blocking")]
        assert any(told) or report["result"] == "planned"
    else:
        json.loads(out.getvalue())
    # What is written past the command's own stream would stand beside it.
    assert capfd.readouterr().out == ""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "Run `manage.py prepare`."),
        ({"CALLER_RATE": "many"}, "CALLER_RATE='many'"),
        ({"CORS_ORIGINS": "*"}, "CORS_ORIGINS lists what is no origin"),
        ({"DATABASE_URL": "postgres://nobody@127.0.0.1:1/nowhere"}, "database "),
    ],
)
def test_so_it_does_where_it_cannot_work(
    empty_site: Site, files: Path, settings: dict[str, str], told: str
) -> None:
    for name in COMMANDS:
        code, output, errors = empty_site.run_apart(name, *asked(name, files), "--json", **settings)
        report = json.loads(output)
        if name in WITHOUT_DATABASE and "CALLER_RATE" not in settings and "CORS_ORIGINS" not in settings:
            assert (code, report) == (0, WITHOUT_DATABASE[name])
            continue
        if name == "checkconfig" and "CORS_ORIGINS" in settings:
            # Documents are judged where no service runs, so it makes no checks.
            continue
        (problem,) = report["refused"] if "refused" in report else report["problems"]
        assert (code, told in problem, "Traceback" in errors) == (1, True, False), (name, output, errors)


@pytest.mark.processes
def test_so_it_does_without_its_platform(site: Site, files: Path) -> None:
    nowhere = {
        "CRM_URL": f"http://127.0.0.1:{free_port()}/contoso",
        "CRM_TOKEN_URL": f"http://127.0.0.1:{free_port()}/token",
        "CRM_CLIENT_ID": "portico",
        "CRM_CLIENT_SECRET": "secret",
    }
    for name in COMMANDS:
        arguments = ("--organization", "--all") if name == "importmetadata" else asked(name, files)
        code, output, errors = site.run_apart(name, *arguments, "--json", **nowhere)
        assert (json.loads(output) is not None, "Traceback" in errors) == (True, False), (name, errors)
        assert code in (0, 1)


def asked(name: str, folder: Path) -> list[str]:
    """The arguments of a command that runs elsewhere: its files are those of `folder`."""
    files = ("organization.xml", "exported.json")
    return [str(folder / each) if each in files else str(each) for each in map(str, ASKED[name])]


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


@pytest.mark.usefixtures("portico")
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


@pytest.mark.usefixtures("portico")
def test_what_is_exported_to_standard_output_is_the_report() -> None:
    assert "endpoints" in reported("exportconfig")
    assert "account" in reported("exportmetadata")["entities"]


@pytest.mark.usefixtures("portico")
def test_what_was_removed_is_counted() -> None:
    assert reported("tidy")["removed"]["Idempotency keys"] == 0


@pytest.mark.usefixtures("portico")
def test_a_token_says_how_long_it_is_good_for() -> None:
    made = reported("crmtoken", "--user", people.RITA_REP, "--minutes", "5")
    assert made["token"].count(".") >= 1
    assert made["seconds"] == 300


def test_output_that_is_not_read_to_its_end_is_no_failure_with_a_traceback(site: Site) -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "configversions"],
        cwd=ROOT,
        env=site.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == b""
        # As a shell says of what `head` has cut off.
        assert command.wait(COMMAND_SECONDS) == 141
