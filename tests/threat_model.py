"""THREAT_MODEL.md as the tests read it: what must hold, by number, and the tests that hold it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Before the plugins are loaded, which have the root, too.
_ROOT = Path(__file__).resolve().parent.parent
_LINE = re.compile(r"^(\d+)\. ", re.MULTILINE)
_TEST = re.compile(r"^   - `(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)


def listed() -> Mapping[int, list[tuple[str, str]]]:
    """The tests, as file and function, by the number of the line that they hold."""
    _, *parts = _LINE.split((_ROOT / "THREAT_MODEL.md").read_text(encoding="utf-8"))
    return {int(number): _TEST.findall(text) for number, text in zip(parts[::2], parts[1::2], strict=True)}


def keywords_of(file: str, function: str) -> list[str]:
    """What `-k` finds a test by: `threat_05` for one that holds line 5."""
    return [f"threat_{number:02}" for number in _numbers()[file, function]]


@cache
def _numbers() -> Mapping[tuple[str, str], list[int]]:
    numbers_by_test: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, tests in listed().items():
        for test in tests:
            numbers_by_test[test].append(number)
    return numbers_by_test
