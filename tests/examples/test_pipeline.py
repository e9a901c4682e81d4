"""The pipelines of `examples/pipeline`: every command, run as a runner would, against two systems."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import COMMAND_SECONDS, ROOT, Site, copied

pytestmark = pytest.mark.processes

FOLDER = ROOT / "examples" / "pipeline"
# It would install this checkout into itself.
INSTALL = "Install Portico"
# What the pipelines take from the environment of a runner. What has no value there is empty.
VALUES = {"SECRET_KEY": "s" * 50, "TOKEN_SIGNING_KEY": "t" * 50, "ALLOWED_HOSTS": "portico.example"}
TEAM = {"test": "0c2f8a3e-5f0a-4d8c-9d53-3a1f3c8a2b10", "production": "7b1f64c2-0a0e-4f57-8a53-1f7f0f6f2f11"}
RULE = '<filter><condition attribute="ownerid" operator="eq" value="{env:TEAM}"/></filter>'
CALL = """\
example_calls:
- name: a new account
  roles: [sales-rep]
  body: {name: Contoso}
  status: 200
  refused_for: [customer]
"""

Steps = dict[str, list[tuple[str, str]]]


def github() -> Steps:
    """Name and script of the steps of each job, without those of the runner's own."""
    jobs = yaml.safe_load((FOLDER / "github" / "configuration.yml").read_text())["jobs"]
    return {
        job: [(step["name"], step["run"]) for step in content["steps"] if "run" in step]
        for job, content in jobs.items()
    }


def azure() -> Steps:
    stages = yaml.safe_load((FOLDER / "azure" / "azure-pipelines.yml").read_text())["stages"]

    def steps(job: dict[str, Any]) -> list[dict[str, Any]]:
        if "steps" in job:
            job_steps: list[dict[str, Any]] = job["steps"]
        else:
            job_steps = job["strategy"]["runOnce"]["deploy"]["steps"]
        return job_steps

    return {
        stage["stage"]: [
            (step["displayName"], step["script"])
            for job in stage["jobs"]
            for step in steps(job)
            if "script" in step
        ]
        for stage in stages
    }


def github_settings() -> dict[str, set[str]]:
    """The names of the settings that each job is given."""
    jobs = yaml.safe_load((FOLDER / "github" / "configuration.yml").read_text())["jobs"]
    return {job: set(content.get("env", ())) for job, content in jobs.items()}


@dataclass
class Repository:
    """The repository of the docs, and the two systems that it is for."""

    folder: Path
    sites: dict[str, Site]
    steps: Steps

    def job(self, name: str, site: str | None = None) -> tuple[int, str]:
        """Exit code and output of a job's steps up to the first that fails."""
        settings = {"HOME": os.environ["HOME"]}
        if site:
            # Nothing but what the pipeline names, and the folder of an SQLite database.
            environment = self.sites[site].environment
            given = {name: VALUES.get(name, environment.get(name, "")) for name in github_settings()[name]}
            settings |= {**given, "PLATFORM": "", "DATA_DIR": environment["DATA_DIR"]}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        output = ""
        for step, script in self.steps[name]:
            if step == INSTALL:
                continue
            done = subprocess.run(
                ["bash", "-e", "-c", script],
                cwd=self.folder,
                env={**settings, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_SECONDS,
            )
            output += f"{step}\n{done.stdout}"
            if done.returncode:
                return done.returncode, output
        return 0, output


@pytest.fixture(scope="module")
def _exported(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a team begins its repository with."""
    folder = tmp_path_factory.mktemp("exported")
    _prepared.manage("exportconfig", "--folder", str(folder / "configuration"))
    _prepared.manage("exportmetadata", "--output", str(folder / "metadata.json"))
    return folder


@pytest.fixture
def repository(site: Site, _exported: Path, tmp_path: Path) -> Iterator[Repository]:
    folder = tmp_path / "repository"
    shutil.copytree(_exported, folder)
    (folder / "portico").symlink_to(ROOT)
    (folder / "values").mkdir()
    # What is no development system has no account with the demo's password.
    site.manage(
        "shell", "-c", "from django.contrib.auth.models import User; User.objects.update(password='!')"
    )
    with copied(site, tmp_path / "production", "production") as production:
        for environment, team in TEAM.items():
            (folder / "values" / f"{environment}.yaml").write_text(f"TEAM: {team}\n")
        yield Repository(folder, {"test": site, "production": production}, github())


def test_both_pipelines_run_the_same_commands() -> None:
    """So the other tests run those of one. Only Azure's shell goes on after an error unless told not to."""
    for steps in azure().values():
        for name, script in steps:
            assert name == INSTALL or script.startswith("set -e\n") == ("\n" in script.strip()), name
    assert commands(azure()) == commands(github())


def commands(steps: Steps) -> Steps:
    return {
        job: [(name, script.removeprefix("set -e\n").strip()) for name, script in each if name != INSTALL]
        for job, each in steps.items()
    }


def test_a_change_goes_from_a_pull_request_to_production_and_drift_is_told(repository: Repository) -> None:
    assert repository.steps.keys() == {"judge", "test", "production", "drift"}
    entity = repository.folder / "configuration/modules/sales/entities/leads.yaml"
    entity.write_text(entity.read_text() + f"row_rule:\n- filter: '{RULE}'\n")
    endpoint = repository.folder / "configuration/modules/sales/endpoints/accounts.create.yaml"
    endpoint.write_text(endpoint.read_text() + CALL)

    code, output = repository.job("judge")
    assert code == 0, output
    assert output.count("With values/") == 2

    code, output = repository.job("test", "test")
    assert code == 0, output
    assert "~ entity sales.leads" in output
    assert "Imported." in output
    assert output.count("Example calls: 1 made, 0 failed.") == 3
    assert 'failures="0"' in (repository.folder / "calls.xml").read_text()
    for name, site in repository.sites.items():
        document, entries = stored(site)
        assert (TEAM["test"] in json.dumps(entries)) == (name == "test")
        assert ("{env:TEAM}" in document) == (name == "test")

    code, output = repository.job("production", "production")
    assert code == 0, output
    assert TEAM["production"] in json.dumps(stored(repository.sites["production"])[1])

    code, output = repository.job("drift", "production")
    assert code == 0, output
    change = (
        "from designer.models import Module; Module.objects.filter(segment='sales').update(title='By hand')"
    )
    repository.sites["production"].manage("shell", "-c", change)
    code, output = repository.job("drift", "production")
    assert code == 3
    assert "By hand" in output


def test_a_pull_request_that_could_not_be_served_is_refused_before_anything_is_changed(
    repository: Repository,
) -> None:
    entity = repository.folder / "configuration/modules/sales/entities/leads.yaml"
    whole = entity.read_text()
    entity.write_text(whole + f"row_rule:\n- filter: '{RULE.replace('ownerid', 'owner')}'\n")
    (repository.folder / "values" / "production.yaml").write_text("{}\n")
    code, output = repository.job("judge")
    assert code == 1
    assert "TEAM has no value here" in output
    (repository.folder / "values" / "production.yaml").write_text(f"TEAM: {TEAM['production']}\n")
    code, output = repository.job("judge")
    assert code == 1
    assert "sales.leads" in output

    before = repository.sites["test"].manage("exportconfig")
    code, output = repository.job("test", "test")
    assert code == 1
    assert "Nothing was changed" in output
    assert repository.sites["test"].manage("exportconfig") == before


def stored(site: Site) -> tuple[str, Any]:
    """The document that is exported, and what row rules say with their values."""
    command = (
        "import json; from django.core.management import call_command; "
        "from designer.models import RowRuleEntry; call_command('exportconfig'); "
        "print('STORED' + json.dumps([entry.filter for entry in RowRuleEntry.objects.all()]))"
    )
    document, _, entries = site.manage("shell", "-c", command).rpartition("STORED")
    return document, json.loads(entries)
