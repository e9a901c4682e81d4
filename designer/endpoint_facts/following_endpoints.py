"""Endpoints that follow from an edit of what they share, each made when it is first asked for.

Thousands of them made at once would keep every request waiting that begins meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from designer.configuration import Endpoint

# After this many endpoints, `settle` pauses, so that other threads get the processor.
_AT_ONCE = 50
# In seconds.
_PAUSE = 0.001


class FollowingEndpoints(Mapping[int, Endpoint]):
    """The endpoints of `before`, each as `follow` makes it when it is first asked for.

    `follow` returns the same object for an endpoint that does not change. `path_of` gives the new path of an
    endpoint of `before`; None: all paths stay. Safe to share between threads.
    """

    def __init__(
        self,
        before: Mapping[int, Endpoint],
        follow: Callable[[Endpoint], Endpoint],
        path_of: Callable[[Endpoint], str] | None,
    ) -> None:
        self._origin: Mapping[int, Endpoint] | None = before
        # Settled, because otherwise each access after several edits would follow a chain of all of them.
        self._before = before.settled() if isinstance(before, FollowingEndpoints) else before
        self._follow = follow
        self._path_of = path_of
        self._made: dict[int, Endpoint] = {}

    def __getitem__(self, id: int) -> Endpoint:
        """Return an endpoint, made when it is first asked for."""
        endpoint = self._made.get(id)
        # `setdefault`, because another thread may make it at the same time: all get the same object.
        return self._made.setdefault(id, self._follow(self._before[id])) if endpoint is None else endpoint

    def __iter__(self) -> Iterator[int]:
        return iter(self._before)

    def __len__(self) -> int:
        return len(self._before)

    def __contains__(self, id: object) -> bool:
        return id in self._before

    def follows(self, before: Mapping[int, Endpoint]) -> bool:
        """Whether this mapping was made of `before`, and differs from it only in what follows
        from the edit.
        """
        return self._origin is before

    @property
    def are_moved(self) -> bool:
        """Whether endpoints may be at other paths than before."""
        return self._path_of is not None

    def path(self, id: int) -> str:
        """Return the path of an endpoint, without making the endpoint."""
        before = self._before[id]
        return before.path if self._path_of is None else self._path_of(before)

    def settled(self) -> Mapping[int, Endpoint]:
        """Return all endpoints, each made, as a mapping that can no longer change."""
        return MappingProxyType({id: self[id] for id in self._before})

    def settle(self) -> None:
        """Make the endpoints that nobody has asked for yet, and let go of the earlier ones.

        For a thread beside those of requests: it pauses now and then.
        """
        for number, id in enumerate(self._before):
            self[id]  # makes the endpoint
            if number % _AT_ONCE == 0:
                time.sleep(_PAUSE)
        self._before, self._origin = self.settled(), None
