"""Loads what packages add, once for each process. `docs/extending.md` says what they may add."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from crmbox.processes import PROCESSES
from crmclient.extensions import Problem
from designer.expressions.functions import FUNCTIONS
from designer.kinds import KINDS
from designer.platform import PLATFORMS
from designer.types import TYPES
from runtime.callers.tokens import RESOLVERS
from runtime.operations import OPERATIONS

PLATFORMS.register("configured", "project.platform:configured")
PLATFORMS.register("dataverse", "project.platform:dataverse")
PLATFORMS.register("embedded", "project.platform:embedded")


@cache
def load() -> tuple[Problem, ...]:
    """Add what packages offer to the registries, and return what cannot be added."""
    found = [
        problem
        for registry in (TYPES, KINDS, OPERATIONS, FUNCTIONS, PROCESSES)
        for problem in registry.load()
    ]
    found += [problem for choice in (PLATFORMS, RESOLVERS) for problem in choice.problems()]
    return (*found, *_halves({problem.name for problem in found}))


def _halves(named: set[str]) -> Iterator[Problem]:
    """The kinds with a descriptor or an operation only; those `named` have a problem already."""
    for name in sorted((KINDS.keys() ^ OPERATIONS.keys()) - named):
        there, missing = (KINDS.group, OPERATIONS.group) if name in KINDS else (OPERATIONS.group, KINDS.group)
        yield Problem(
            missing,
            name,
            f"The entry point “{name}” of {there} has no counterpart in {missing}.",
            f"Add an entry point “{name}” of {missing} to the package that has the other, or uninstall it.",
        )
