"""THREAT_MODEL.md lists by number what must hold, with the tests that hold it. Each line has some."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.servers import ROOT

MODEL = (ROOT / "THREAT_MODEL.md").read_text(encoding="utf-8")
_LINE = re.compile(r"^(\d+)\. ", re.MULTILINE)
_TEST = re.compile(r"^   - `(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)


def listed() -> Mapping[int, list[tuple[str, str]]]:
    """The tests, as file and function, by the number of the line that they hold."""
    _, *parts = _LINE.split(MODEL)
    return {int(number): _TEST.findall(text) for number, text in zip(parts[::2], parts[1::2], strict=True)}


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
