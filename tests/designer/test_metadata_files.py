"""Documents judged by a metadata file, where neither a database nor a platform can be asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from designer.overview import overview
from project.demo import CONFIGURATION
from tests.designer.commands import refused, run
from tests.servers import ROOT

pytestmark = pytest.mark.django_db


@pytest.fixture
def metadata(portico: None, tmp_path: Path) -> Path:
    run("exportmetadata", "--output", tmp_path / "metadata.json")
    return tmp_path / "metadata.json"


def with_change(tmp_path: Path, change: Any) -> Path:
    document = json.loads(CONFIGURATION.read_bytes())
    change(document)
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(document))
    return file


def endpoint(document: dict[str, Any], kind: str, exposure: str, module: str = "sales") -> dict[str, Any]:
    return next(
        item
        for item in document["endpoints"]
        if (item["kind"], item.get("exposure"), item.get("module")) == (kind, exposure, module)
    )


def test_a_document_is_judged_as_the_stored_configuration_is(metadata: Path, tmp_path: Path) -> None:
    here = [finding.to_json() for finding in overview().findings]
    assert here
    report = json.loads(run("checkconfig", CONFIGURATION, "--metadata", metadata, "--json"))
    assert sorted(report["findings"], key=str) == sorted(here, key=str)
    assert report["problems"] == []
    assert report["blocking"] == 0
    assert report["states"]["ready"] == json.loads(run("checkconfig", "--json"))["states"]["ready"]

    run("exportconfig", "--folder", tmp_path / "folder")
    folder = json.loads(run("checkconfig", tmp_path / "folder", "--metadata", metadata, "--json"))
    assert sorted(folder["findings"], key=str) == sorted(here, key=str)


def test_what_could_not_be_served_is_named_without_a_database(metadata: Path, tmp_path: Path) -> None:
    def break_it(document: dict[str, Any]) -> None:
        created = endpoint(document, "create", "accounts")
        created["bindings"] = [each for each in created["bindings"] if each["attribute"] != "name"]
        endpoint(document, "read", "accounts")["access"]["roles"] = ["nobody-knows"]

    file = with_change(tmp_path, break_it)
    # A process of its own, whose database and platform are nowhere.
    environment = {
        **os.environ,
        "PORTICO_MODE": "development",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nowhere",
        "DJANGO_SETTINGS_MODULE": "project.settings",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "checkconfig", str(file), "--metadata", str(metadata)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "sales.accounts.create bindings.name: " in done.stdout
    assert "[required-attribute-unbound]" in done.stdout
    assert "There is no role “nobody-knows”" in done.stdout
    assert "Traceback" not in done.stderr


def test_an_entity_that_the_file_says_nothing_of_is_named_with_what_to_do(
    metadata: Path, tmp_path: Path
) -> None:
    record = json.loads(metadata.read_bytes())
    del record["attributes"]["account"]
    metadata.write_text(json.dumps(record))
    said = refused("checkconfig", CONFIGURATION, "--metadata", metadata)
    assert "does not say what these entities have: account" in said
    assert "exportmetadata --entity account" in said
    assert said.endswith("Not everything could be judged.")


def test_what_can_be_judged_is_told_beside_what_the_file_lacks(metadata: Path, tmp_path: Path) -> None:
    def break_it(document: dict[str, Any]) -> None:
        endpoint(document, "read", "accounts")["access"]["roles"] = ["nobody-knows"]
        constant = {"attribute": "gone", "source": "constant", "value": 1}
        endpoint(document, "create", "leads")["bindings"].append(constant)

    record = json.loads(metadata.read_bytes())
    del record["attributes"]["account"]
    metadata.write_text(json.dumps(record))
    file = with_change(tmp_path, break_it)

    said = refused("checkconfig", file, "--metadata", metadata)

    assert "does not say what these entities have: account" in said
    assert "There is no role “nobody-knows”" in said
    assert "sales.leads.create bindings.gone.attribute: " in said
    assert said.endswith("This cannot be imported. Not everything could be judged. 1 blocking.")
    # No platform was asked.
    assert "metadata-unavailable" not in said
    report = json.loads(refused("checkconfig", file, "--metadata", metadata, "--json").partition("This")[0])
    assert [problem.partition(":")[0] for problem in report["problems"]] == [
        "endpoint sales.accounts.read",
        f"{metadata} does not say what these entities have",
    ]
    assert report["blocking"] == 1


def test_the_file_says_the_same_each_time_and_more_where_asked(metadata: Path, tmp_path: Path) -> None:
    assert run("exportmetadata").encode() == metadata.read_bytes()
    record = json.loads(metadata.read_bytes())
    assert "account" in record["attributes"]
    more = sorted(set(record["entities"]) - set(record["attributes"]))
    assert more
    with_one = json.loads(run("exportmetadata", "--entity", more[0]))
    assert set(with_one["attributes"]) == {*record["attributes"], more[0]}
    assert set(json.loads(run("exportmetadata", "--all"))["attributes"]) == set(record["entities"])
    assert "no entity nowhere" in refused("exportmetadata", "--entity", "nowhere")


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "cannot be read"), (b"{", "no metadata file"), (b'{"format": 7}', "format")],
)
def test_a_file_that_holds_no_metadata_is_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "metadata.json"
    if content is not None:
        file.write_bytes(content)
    assert why in refused("checkconfig", CONFIGURATION, "--metadata", file)


def test_a_document_without_metadata_is_refused_with_what_to_do() -> None:
    assert "importconfig --dry-run" in refused("checkconfig", CONFIGURATION)
