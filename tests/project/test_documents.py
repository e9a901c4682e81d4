"""What the documents tell people to type, typed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.servers import ROOT, Site

BASE = "http://127.0.0.1:8000"


def commands(document: str, section: str) -> str:
    """The indented lines of a section, as one script; what is shown as an answer is left out."""
    text = (ROOT / document).read_text(encoding="utf-8")
    body = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line.strip() for line in body.splitlines() if line.startswith("    ")]
    return "\n".join(line for line in lines if not line.startswith("{"))


@pytest.fixture
def shell(site: Site) -> Shell:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    return Shell(site.start().url)


class Shell:
    def __init__(self, url: str) -> None:
        self.url = url

    def run(self, script: str) -> str:
        done = subprocess.run(
            ["sh", "-eu", "-c", script.replace(BASE, self.url)],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout


@pytest.mark.processes
def test_the_readmes_first_call_creates_a_record_and_lists_options(shell: Shell) -> None:
    output = shell.run(commands("README.md", "A first call"))
    assert re.search(r'\{"id":"[0-9a-f-]{36}"\}', output)
    assert '"name":"Hoch"' in output


@pytest.mark.processes
def test_getting_started_calls_once_well_and_once_with_every_error_named(shell: Shell) -> None:
    output = shell.run(commands("docs/getting-started.md", "Call it"))
    assert "HTTP/1.1 200 OK" in output
    problem = json.loads(output[output.rindex('{"type"') :])
    assert {error["pointer"] for error in problem["errors"]} == {"/name", "/phone", "/revenue", "/industry"}


@pytest.mark.processes
def test_getting_started_calls_as_a_customer(shell: Shell) -> None:
    where = commands("docs/getting-started.md", "Call it").splitlines()[0]
    output = shell.run(f"{where}\n{commands('docs/getting-started.md', 'Be a customer')}")
    assert '"fullName":"Clara Customer"' in output
    assert '"count":3,"totalRecordCount":12' in output
    assert re.search(r'\{"id":"[0-9a-f-]{36}"\}$', output)


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


LINK = re.compile(r'(?:\]\(|src=")(?!https?:)([^)#"]*)(?:#([^)"]+))?')


def anchors(document: Path) -> set[str]:
    """What its headings are called in links, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for path, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        target = document.parent / path if path else document
        assert target.exists(), f"{document.name} links to {path}"
        assert not anchor or anchor in anchors(target), f"{document.name} links to {path}#{anchor}"


@pytest.mark.parametrize("document", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name)
def test_every_page_stands_in_the_table_of_contents(document: Path) -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert document.name == "index.md" or f"]({document.name})" in contents


def test_every_decision_stands_in_the_list_of_decisions() -> None:
    decisions = ROOT / "docs" / "decisions"
    listed = (decisions / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in sorted(decisions.glob("0*.md")) if f"]({path.name})" not in listed] == []


# A folder or module of ours as documents name it: `runtime/serving/dispatch.py`, `crmbox/engine/`.
PLACE = re.compile(r"`((?:crmclient|crmbox|designer|runtime|project|demo|scripts)/[\w/.-]*)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_places_in_the_code_that_documents_name_are_there(document: Path) -> None:
    named = PLACE.findall(document.read_text(encoding="utf-8")) if document.name != "CHANGELOG.md" else []
    assert [place for place in named if not (ROOT / place).exists()] == []
