"""Results for every endpoint, which are computed again only for endpoints that have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from designer.configuration import Configuration, Endpoint, Revision

T = TypeVar("T")


class PerEndpoint(Generic[T]):
    """The results of `find` for all endpoints.

    An endpoint that has not changed is the same object in the next configuration, so its result is kept.
    """

    def __init__(self, find: Callable[[Endpoint], T]) -> None:
        self._find = find
        self._cached: Mapping[int, tuple[Endpoint, T]] = {}
        self._revision: Revision | None = None

    def of(self, configuration: Configuration) -> Mapping[int, tuple[Endpoint, T]]:
        """Return each endpoint with its result, by row id."""
        previous = self._cached
        # No two states share a revision, whatever was rolled back.
        if self._revision == configuration.revision:
            return previous
        results = {}
        for id, endpoint in configuration.endpoints.items():
            cached = previous.get(id)
            is_unchanged = cached is not None and cached[0] is endpoint
            results[id] = cached if is_unchanged and cached is not None else (endpoint, self._find(endpoint))
        self._cached, self._revision = results, configuration.revision
        return results
