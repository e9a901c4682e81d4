"""The page about extending: its examples are the files of the example, and it misses no interface."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields

import pytest

from crmbox.processes import PROCESSES
from crmclient import Platform
from crmclient.conventions import Ability, Conventions
from designer.expressions.functions import FUNCTIONS
from designer.kinds import KINDS
from designer.platform import PLATFORMS
from designer.readiness import rules
from designer.types import TYPES, InputType
from project.checks import TAG
from runtime.callers.tokens import RESOLVERS
from runtime.operations import OPERATIONS, Operation
from tests.servers import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "examples" / "extension"
RULES = "designer/readiness/rules/__init__.py"
SHOWN = dict(re.findall(r"^`(examples/[\w/.]+)`:\n\n```python\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL))
GROUPS = {known.group for known in (TYPES, KINDS, OPERATIONS, PROCESSES, FUNCTIONS, RESOLVERS, PLATFORMS)}
POINTS = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]


def test_every_module_of_the_example_is_shown_whole() -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (PACKAGE / "portico_example").glob("[!_]*.py")}
    assert SHOWN.keys() == modules
    for path, text in SHOWN.items():
        assert text == (ROOT / path).read_text(encoding="utf-8").strip(), path


def test_the_entry_points_are_those_of_the_example() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert tomllib.loads(shown)["project"]["entry-points"] == POINTS


def test_every_group_is_described_and_the_example_has_all_but_a_platform() -> None:
    assert set(re.findall(r"^\| `(portico\.\w+)` \|", PAGE, re.MULTILINE)) == GROUPS
    assert POINTS.keys() == GROUPS - {PLATFORMS.group}


def test_what_is_built_in_is_registered_where_the_page_says() -> None:
    section = PAGE.partition("\n## Building one in\n")[2].partition("\n## ")[0]
    lines = set(re.findall(r"\| `([\w/.]+\.py)` \|$", section, re.MULTILINE))
    registers = re.compile(
        r"^\s*(TYPES|KINDS|OPERATIONS|PROCESSES|FUNCTIONS|RESOLVERS|PLATFORMS)\.register\(", re.MULTILINE
    )
    modules = (
        path for part in ("crmbox", "designer", "project", "runtime") for path in (ROOT / part).rglob("*.py")
    )
    registering = {
        path.relative_to(ROOT).as_posix()
        for path in modules
        if registers.search(path.read_text(encoding="utf-8"))
    }
    # Rules register themselves: the line there imports their module.
    assert lines == {*registering, RULES}


def test_every_module_of_rules_is_imported_where_the_page_says() -> None:
    modules = {path.stem for path in (ROOT / RULES).parent.glob("[!_]*.py")}
    assert modules == set(rules.__all__)


def test_everything_about_a_platform_is_described() -> None:
    section = PAGE.partition("\n## A platform\n")[2].partition("\n## ")[0]
    described = set(re.findall(r"`([\w.]+)[^`]*`", section))
    members = {name for name in (*vars(Platform), *Platform.__annotations__) if not name.startswith("_")}
    parts = {field.name for field in fields(Conventions)} - {"records", "abilities"}
    assert members | parts | {f"Ability.{one.name}" for one in Ability} <= described


@pytest.mark.parametrize("interface", [InputType, Operation])
def test_everything_that_can_be_overridden_is_described(interface: type) -> None:
    described = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", PAGE))
    members = {*vars(interface), *interface.__annotations__}
    public = {name for name in members if not name.startswith("_")}
    assert public - described == set()


def test_the_messages_shown_are_those_of_checks() -> None:
    assert f"({TAG}.E014) The entry point “Url” of portico.types, in the package portico-example 1.0," in PAGE
