"""drf-spectacular's generator, handed views instead of looking for them in the URL configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from drf_spectacular.generators import SchemaGenerator

from runtime.describe.problem_responses import response_name

# Path, method in upper case, and the view as `as_view` made it.
Route: TypeAlias = tuple[str, str, Any]
Paths: TypeAlias = dict[str, dict[str, Any]]


class Components:
    """Components by kind and name, in the place of drf-spectacular's registry, which compares classes."""

    def __init__(self) -> None:
        self.found: Paths = {}
        # Statuses with the codes that they may carry: what responses to them say follows from that.
        self.problems: dict[int, dict[tuple[str, ...], None]] = {}

    def refer_to_problem(self, status: int, codes: tuple[str, ...]) -> dict[str, Any]:
        """A reference to the response of that status with these codes."""
        self.problems.setdefault(status, {})[codes] = None
        return {"$ref": f"#/components/responses/{response_name(status, codes)}"}

    def refer(self, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """A reference to a component, which is there from now on."""
        self.found.setdefault(kind, {}).setdefault(name, content)
        return {"$ref": f"#/components/{kind}/{name}"}


class DefinitionSchemaGenerator(SchemaGenerator):
    """Makes the document of `routes`. Not thread-safe, as its parent is not."""

    def __init__(self, routes: Sequence[Route], **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.routes = routes
        self.registry: Any = Components()

    def _initialise_endpoints(self) -> None:
        self.endpoints: Any = [(path, path, method, view) for path, method, view in self.routes]

    def operations(self) -> Paths:
        """The routes' operations by path and method, in lower case."""
        paths: Paths = self.parse(None, True)  # type: ignore[no-untyped-call]
        return paths

    def components(self) -> Paths:
        """What `operations` refer to, by kind and name."""
        found: Paths = self.registry.found
        return found

    def problems(self) -> list[tuple[int, tuple[str, ...]]]:
        """The problems that `operations` refer to beside these: statuses, and the codes of each."""
        known: Components = self.registry
        return [(status, codes) for status, each in known.problems.items() for codes in each]


def no_request(*_: Any) -> None:
    """drf-spectacular gives views a request to look at; ours need none, and it is dear to make."""
