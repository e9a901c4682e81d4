"""What is found out about every endpoint, and again only about those that have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from designer.configuration import Configuration, Endpoint, Revision

T = TypeVar("T")


class PerEndpoint(Generic[T]):
    """`find` says it of one endpoint. One that is as it was is the same object, by which it is known."""

    def __init__(self, find: Callable[[Endpoint], T]) -> None:
        self._find = find
        self._known: Mapping[int, tuple[Endpoint, T]] = {}
        self._revision: Revision | None = None

    def of(self, configuration: Configuration) -> Mapping[int, tuple[Endpoint, T]]:
        """Each endpoint with what was found, by row id."""
        known = self._known
        # No two states share a revision, whatever was rolled back.
        if self._revision == configuration.revision:
            return known
        made = {}
        for id, endpoint in configuration.endpoints.items():
            kept = known.get(id)
            same = kept is not None and kept[0] is endpoint
            made[id] = kept if same and kept is not None else (endpoint, self._find(endpoint))
        self._known, self._revision = made, configuration.revision
        return made
