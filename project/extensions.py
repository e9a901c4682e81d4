"""Loads what packages add, once for each process. `docs/extending.md` says what they may add."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from crmbox.processes import PROCESSES
from crmclient.extensions import Problem
from designer.expressions.functions import FUNCTIONS
from designer.kinds import KINDS, OperationKind
from designer.platform import PLATFORMS
from designer.studio.endpoint_form.settings_fields import refuse_unknown_settings
from designer.types import TYPES
from runtime.callers.tokens import RESOLVERS
from runtime.operations import OPERATIONS
from runtime.serving.paths import API_PATHS

PLATFORMS.register("configured", "project.platform:configured")
PLATFORMS.register("dataverse", "project.platform:dataverse")
PLATFORMS.register(
    "embedded", "project.platform:embedded", was=["crmclient.embedded.platform.EmbeddedPlatform"]
)


@cache
def load() -> tuple[Problem, ...]:
    """Add what packages offer to the registries, and return what cannot be added."""
    # Before packages add theirs.
    built_in = KINDS.keys() | OPERATIONS.keys()
    problems = [
        *_unusable_built_in_kinds(),
        *TYPES.load(),
        *KINDS.load(_check_form_and_path),
        *OPERATIONS.load(),
        *FUNCTIONS.load(),
        *PROCESSES.load(),
        *PLATFORMS.problems(),
        *RESOLVERS.problems(),
    ]
    return (*problems, *_kinds_without_counterpart({problem.name for problem in problems}, built_in))


def _check_form_and_path(kind: OperationKind) -> None:
    """Raise ValueError for a kind whose settings have no form field, or whose path leads nowhere."""
    refuse_unknown_settings(kind.settings)
    try:
        path = kind.path_of(module="module", segment="segment", name="name")
    except (KeyError, IndexError) as error:
        raise ValueError(f"its path {kind.path} has a placeholder that there is not: {error}") from error
    if not re.match(API_PATHS, path):
        raise ValueError(f"its path {kind.path} is not one of the API. Begin it with /api/{{module}}/")


def _unusable_built_in_kinds() -> Iterator[Problem]:
    """Yield a problem for each built-in kind that has no form or no path under the API."""
    for name, kind in KINDS.items():
        try:
            _check_form_and_path(kind)
        except ValueError as error:
            text = f"The built-in “{name}” of {KINDS.group} cannot be used: {error}."
            yield Problem(KINDS.group, name, text, "Correct the kind.")


def _kinds_without_counterpart(already_named: set[str], built_in: set[str]) -> Iterator[Problem]:
    """Yield a problem for each kind that has only a descriptor or only an operation.

    Kinds that are `already_named` have a problem already.
    """
    for name in sorted((KINDS.keys() ^ OPERATIONS.keys()) - already_named):
        present_group, missing_group = (
            (KINDS.group, OPERATIONS.group) if name in KINDS else (OPERATIONS.group, KINDS.group)
        )
        if name in built_in:
            text = f"The built-in “{name}” of {present_group} has no counterpart in {missing_group}."
            remedy = (
                f"Register it in {missing_group}, too: “Building one in” in docs/extending.md says where."
            )
        else:
            text = f"The entry point “{name}” of {present_group} has no counterpart in {missing_group}."
            to_do = f"Add an entry point “{name}” of {missing_group} to the package that has the other"
            remedy = f"{to_do}, or uninstall it."
        yield Problem(missing_group, name, text, remedy)
