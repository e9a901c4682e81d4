"""THREAT_MODEL.md lists by number what must hold, with the tests that hold it. Each line has some."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import COMMAND_SECONDS, ROOT
from tests.threat_model import listed

LINES = listed()


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_lines_are_numbered_without_a_gap() -> None:
    assert list(LINES) == list(range(1, 51))


@pytest.mark.parametrize("number", LINES)
def test_a_line_of_the_threat_model_has_its_tests(number: int) -> None:
    tests = LINES[number]
    assert tests
    for file, name in tests:
        assert name in _tests(ROOT / file), f"{number}: {file}::{name}"


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("test_*.py")), ids=lambda path: path.stem)
def test_a_test_with_a_number_stands_beside_it(path: Path) -> None:
    for name in _tests(path):
        if numbered := re.match(r"test_(\d+)_", name):
            assert (f"tests/security/{path.name}", name) in LINES[int(numbered[1])], name


def test_the_tests_of_a_line_are_found_by_its_number() -> None:
    command = ["-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", "threat_45"]
    file = "tests/runtime/test_token_families.py"
    done = subprocess.run(
        [sys.executable, *command, file],
        cwd=ROOT,
        # Options of the run itself would change what is printed.
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    node_ids = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert node_ids == {"::".join(test) for test in LINES[45] if test[0] == file}, done.stdout
