"""The description fragments of served endpoints that this process has needed so far."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping

from django.conf import settings

from runtime.describe.fragment_digests import Digests
from runtime.describe.fragment_maker import CHILD
from runtime.describe.fragment_store import AT_ONCE, read_fragments, store_fragments
from runtime.describe.fragments import Fragment, make_fragment, read_fragment
from runtime.http.problems import Problem
from runtime.serving.served import Served

RETRY_SECONDS = 1
# Seconds between two reads of the database, for each `AT_ONCE` missing fragments: reads take time from
# requests.
_PAUSE = 0.05
_LONGEST_PAUSE = 0.5


class FragmentCache:
    """Reads fragments from the database, and lets a child process make the missing ones."""

    def __init__(self) -> None:
        self.digests = Digests()
        self._fragments: dict[str, Fragment] = {}
        # Texts of components by name, which fragments share to save memory.
        self._components: dict[str, bytes] = {}
        # At most half of the threads wait for fragments: the rest serve other requests.
        self._waiting = threading.BoundedSemaphore(max(1, settings.PORTICO["THREADS"] // 2))

    def of(self, served: Served, ids: Iterable[int]) -> list[Fragment]:
        """Return the fragments of the endpoints `ids`, in this order.

        Raises Problem 503 when they take too long.
        """
        digest_by_id = {id: self.digests.of(served, id) for id in ids}
        # Other threads may let `keep_only` forget them while this one waits for those that are missing.
        cached = self._fragments
        fragments = {digest: cached[digest] for digest in digest_by_id.values() if digest in cached}
        missing = {digest: id for id, digest in digest_by_id.items() if digest not in fragments}
        if missing:
            self._add(served, missing, fragments)
        return [fragments[digest] for digest in digest_by_id.values()]

    def keep_only(self, served: Served) -> None:
        """Forget the fragments of endpoints that are not served any more, once there are many of them."""
        # The cache holds fragments of the live configuration too, which a proposal does not tell of.
        if served.is_proposed:
            return
        present = {self.digests.of(served, id) for id in served.routes.ids()}
        if len(self._fragments) > 2 * len(present) + AT_ONCE:
            # Of a copy: other threads add fragments meanwhile.
            cached = self._fragments.copy()
            self._fragments = {key: value for key, value in cached.items() if key in present}
            # The fragments that stay hold their texts themselves; the next to be read fill this again.
            self._components = {}

    def _add(self, served: Served, wanted: Mapping[str, int], fragments: dict[str, Fragment]) -> None:
        """Add the fragments of the endpoints `wanted` (ids by digest) to `fragments`, and to the cache.

        Read those that are stored. Let the child process make the rest, or make them here where there is no
        child. Those of a proposal are made here, too: the child knows the live configuration only. Raises
        Problem 503 if that takes too long, and while too many requests wait.
        """
        missing = self._add_stored(wanted, fragments)
        if not missing:
            return
        if not CHILD.is_used:
            for digest, id in missing.items():
                fragments[digest] = self._cached(digest, make_fragment(served, id))
            return
        if not self._waiting.acquire(blocking=False):
            raise _still_being_made()
        try:
            if served.is_proposed:
                self._make_proposed(served, missing, fragments)
            else:
                self._wait_for_child(missing, fragments)
        finally:
            self._waiting.release()

    def _make_proposed(
        self, served: Served, missing: Mapping[str, int], fragments: dict[str, Fragment]
    ) -> None:
        """Make the fragments of a proposal in this process: the child process knows the live configuration
        only. Raises Problem 503.

        They are stored, so that other processes find them.
        """
        ends = time.monotonic() + settings.PORTICO["DESCRIPTION_WAIT"]
        for digest, id in missing.items():
            if time.monotonic() > ends:
                raise _still_being_made()
            content = make_fragment(served, id)
            store_fragments({digest: content})
            fragments[digest] = self._cached(digest, content)

    def _wait_for_child(self, missing: Mapping[str, int], fragments: dict[str, Fragment]) -> None:
        """Ask the child process for the missing fragments, and read them as they come. Raises Problem 503."""
        ends = time.monotonic() + settings.PORTICO["DESCRIPTION_WAIT"]
        while missing:
            if time.monotonic() > ends:
                raise _still_being_made()
            CHILD.ask()
            time.sleep(min(_PAUSE * math.ceil(len(missing) / AT_ONCE), _LONGEST_PAUSE))
            missing = self._add_stored(missing, fragments)

    def _add_stored(self, wanted: Mapping[str, int], fragments: dict[str, Fragment]) -> Mapping[str, int]:
        """Add those of `wanted` (ids by digest) that the database has. Return the others."""
        missing = dict(wanted)
        digests = list(wanted)
        for start in range(0, len(digests), AT_ONCE):
            stored = read_fragments(digests[start : start + AT_ONCE])
            for digest, content in stored.items():
                fragments[digest] = self._cached(digest, content)
                del missing[digest]
            if not stored:
                # The rest is being made: asking for it would only keep the database busy.
                break
        return missing

    def _cached(self, digest: str, content: bytes) -> Fragment:
        """Read a fragment from its stored form, and keep it in the cache."""
        fragment = self._fragments[digest] = read_fragment(content, self._components)
        return fragment


def _still_being_made() -> Problem:
    """Return the Problem 503 for a description that is still being made."""
    return Problem(
        503,
        "not_described_yet",
        "The description is being made. Try again in a few seconds.",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


FRAGMENTS = FragmentCache()
