"""The package of `examples/extension`: its own tests, a process that has it, and its installation by pip.

It is seen by processes of its own alone: no other test has one type or kind more.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from project.demo import CONFIGURATION
from tests.packages import install
from tests.servers import ROOT, Site

PACKAGE = ROOT / "examples" / "extension"
PROJECT: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MINUTES = 20


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PYTHONPATH on which the package is installed, without pip."""
    folder = tmp_path / "site"
    install(folder, PROJECT["name"], PROJECT["entry-points"], version=PROJECT["version"])
    return os.pathsep.join((str(PACKAGE), str(folder)))


def run(*arguments: str, folder: Path, **environment: str) -> str:
    """What a Python process that must succeed has printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.processes
def test_its_own_tests_pass(path: str) -> None:
    environment = {"PYTHONPATH": path, "PORTICO_MODE": "development"}
    if url := os.environ.get("DATABASE_URL"):
        # A database of its own: this process's is in use.
        environment["DATABASE_URL"] = urlsplit(url)._replace(path=f"/portico_example_{os.getpid()}").geturl()
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=PACKAGE, **environment)
    assert " passed" in output
    assert "skipped" not in output


@pytest.mark.processes
def test_a_service_that_has_it_serves_its_kind_to_callers_of_its_resolver(
    site: Site, path: str, tmp_path: Path
) -> None:
    document = json.loads(CONFIGURATION.read_bytes())
    document["roles"].append({"name": "example"})
    document["endpoints"].append(
        {
            "kind": "count-related",
            "module": "sales",
            "exposure": "accounts",
            "name": "contacts",
            "access": {"roles": ["example"]},
            "settings": {"relationship": "contact_customer_accounts"},
        }
    )
    file = tmp_path / "configuration.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    code, output = site.run("importconfig", str(file))
    assert (code, "unknown kind 'count-related'" in output) == (1, True), output
    site.manage("importconfig", str(file), PYTHONPATH=path)

    server = site.start(PYTHONPATH=path, USER_RESOLVER="example")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    made = server.request("POST", "/api/sales/accounts", headers=headers, json={"name": "Extended"})
    counts = f"{urlsplit(made.headers['Location']).path}/counts/contacts"
    counted = server.request("GET", counts, headers=headers)
    assert (counted.status_code, counted.json()) == (200, {"count": 0})
    server.stop()

    # Without the package, all else is served, and what is missing is named.
    server = site.start()
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    assert server.request("GET", counts, headers=headers).status_code == 404
    assert server.request("POST", "/api/sales/accounts", headers=headers, json={"name": "Plain"}).ok
    code, output = site.run("checkconfig")
    assert (code, "There is no kind “count-related”." in output) == (1, True), output


@pytest.mark.processes
def test_a_package_that_has_changed_describes_endpoints_anew(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE / "portico_example", folder / "portico_example")
    install(folder, PROJECT["name"], PROJECT["entry-points"], version=PROJECT["version"])
    document = json.loads(CONFIGURATION.read_bytes())
    (creates,) = (
        one
        for one in document["endpoints"]
        if (one["kind"], one.get("module"), one.get("exposure")) == ("create", "sales", "accounts")
    )
    (phone,) = (one for one in creates["inputs"] if one["name"] == "phone")
    phone["type"] = "Url"
    file = tmp_path / "configuration.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    site.manage("importconfig", str(file), PYTHONPATH=str(folder))
    module = folder / "portico_example" / "url.py"
    text = module.read_text(encoding="utf-8")
    for words in ("first-form-of-it", "second-form-of-it"):
        module.write_text(text.replace('"format": "uri"', f'"format": "{words}"'), encoding="utf-8")
        server = site.start(PYTHONPATH=str(folder))
        headers = {"Authorization": f"Bearer {server.token('rep')}"}
        described = server.request("GET", "/api/openapi.json", headers=headers).text
        server.stop()
        assert set(re.findall("[a-z]+-form-of-it", described)) == {words}


@pytest.mark.processes
def test_pip_installs_it(tmp_path: Path) -> None:
    if importlib.util.find_spec("setuptools.command.bdist_wheel") is None:
        pytest.skip("setuptools 70.1 or later is not installed")
    # Building leaves folders beside what is built.
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    run("-m", "pip", "install", *offline, "--target", str(target), str(source), folder=tmp_path)
    (distribution,) = (
        one for one in Distribution.discover(path=[str(target)]) if one.name == PROJECT["name"]
    )
    wanted = {
        (group, name, value)
        for group, points in PROJECT["entry-points"].items()
        for name, value in points.items()
    }
    assert {(point.group, point.name, point.value) for point in distribution.entry_points} == wanted
    modules = {f"{value.partition(':')[0].replace('.', '/')}.py" for _, _, value in wanted}
    assert modules <= {str(file) for file in distribution.files or ()}
