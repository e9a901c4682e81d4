"""Packages of npm for what TypeScript's developers do; their tests are skipped where there is no npm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from scripts.npm import NotInstalled, packages

Installing: TypeAlias = Callable[..., Path]


@pytest.fixture
def installing() -> Installing:
    """`installing("typescript@5.9.3")` is a folder whose `node_modules` has that."""

    def install(*specifications: str) -> Path:
        try:
            return packages(*specifications)
        except NotInstalled as error:
            pytest.skip(str(error))

    return install
