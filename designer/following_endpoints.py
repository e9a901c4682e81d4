"""Endpoints that follow from an edit of what they share, each made when it is first asked for.

Thousands of them made at once would keep every request waiting that begins meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from designer.configuration import Endpoint

# Between so many, others get the processor.
_AT_ONCE = 50
_PAUSE = 0.001


class FollowingEndpoints(Mapping[int, Endpoint]):
    """The endpoints `before`, each as `follow` makes it. What nothing follows for stays the same object.

    `path_of` gives the path at which an endpoint of `before` is from now on; None: each stays at its own.
    Safe to share between threads.
    """

    def __init__(
        self,
        before: Mapping[int, Endpoint],
        follow: Callable[[Endpoint], Endpoint],
        path_of: Callable[[Endpoint], str] | None,
    ) -> None:
        self._origin: Mapping[int, Endpoint] | None = before
        # One edit after the other must not make each access a chain of all of them.
        self._before = before.settled() if isinstance(before, FollowingEndpoints) else before
        self._follow = follow
        self._path_of = path_of
        self._made: dict[int, Endpoint] = {}

    def __getitem__(self, id: int) -> Endpoint:
        made = self._made.get(id)
        return self._made.setdefault(id, self._follow(self._before[id])) if made is None else made

    def __iter__(self) -> Iterator[int]:
        return iter(self._before)

    def __len__(self) -> int:
        return len(self._before)

    def __contains__(self, id: object) -> bool:
        return id in self._before

    def follows(self, before: Mapping[int, Endpoint]) -> bool:
        """Whether nothing but what follows is different from `before`."""
        return self._origin is before

    @property
    def are_moved(self) -> bool:
        """Whether some may be at another path than before."""
        return self._path_of is not None

    def path(self, id: int) -> str:
        """The endpoint's path, without making the endpoint."""
        before = self._before[id]
        return before.path if self._path_of is None else self._path_of(before)

    def settled(self) -> Mapping[int, Endpoint]:
        return MappingProxyType({id: self[id] for id in self._before})

    def settle(self) -> None:
        """Make all that nobody has asked for yet, beside the requests, and keep what was before no longer."""
        for number, id in enumerate(self._before):
            self[id]
            if number % _AT_ONCE == 0:
                time.sleep(_PAUSE)
        self._before, self._origin = self.settled(), None
