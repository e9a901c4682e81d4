"""The description fragments of served endpoints that this process has needed so far."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection, Iterable, Mapping

from django.conf import settings

from runtime.describe.fragment_digests import Digests
from runtime.describe.fragment_maker import CHILD
from runtime.describe.fragment_store import AT_ONCE, read_fragments, store_fragments
from runtime.describe.fragments import Fragment, make, read
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
        self._components: dict[str, bytes] = {}
        # Requests that wait for fragments must leave threads for other requests.
        self._waiting = threading.BoundedSemaphore(max(1, settings.PORTICO["THREADS"] // 2))

    def of(self, served: Served, ids: Iterable[int]) -> list[Fragment]:
        """Return the fragments of the endpoints `ids`, in this order.

        Raises Problem 503 when they take too long.
        """
        digest_of = {id: self.digests.of(served, id) for id in ids}
        missing = {digest: id for id, digest in digest_of.items() if digest not in self._fragments}
        if missing:
            self._find(served, missing)
        return [self._fragments[digest] for digest in digest_of.values()]

    def keep_only(self, served: Served) -> None:
        """Forget the fragments of endpoints that are not served any more."""
        if served.is_proposed:
            return
        present = {self.digests.of(served, id) for id in served.routes.ids()}
        if len(self._fragments) > 2 * len(present) + AT_ONCE:
            self._fragments = {key: value for key, value in self._fragments.items() if key in present}
            self._components = {}

    def _find(self, served: Served, missing: dict[str, int]) -> None:
        """Find the fragments in `missing` (endpoint ids by digest): read those that are stored; let the rest
        be made by the child process, or make them here where there is none. Raises Problem 503 while too many
        requests wait.
        """
        self._read(missing)
        if not missing:
            return
        if not CHILD.is_used:
            for digest, id in missing.items():
                self._fragments[digest] = read(make(served, id), self._components)
        elif served.is_proposed:
            self._make_proposed(served, missing)
        elif not self._waiting.acquire(blocking=False):
            raise _not_yet()
        else:
            try:
                self._wait(missing)
            finally:
                self._waiting.release()

    def _make_proposed(self, served: Served, missing: dict[str, int]) -> None:
        """Make the fragments of a proposal in this process: the child process knows the live configuration
        only.

        They are stored, so that other processes find them.
        """
        if not self._waiting.acquire(blocking=False):
            raise _not_yet()
        try:
            ends = time.monotonic() + settings.PORTICO["DESCRIPTION_WAIT"]
            for digest, id in missing.items():
                if time.monotonic() > ends:
                    raise _not_yet()
                content = make(served, id)
                store_fragments({digest: content})
                self._fragments[digest] = read(content, self._components)
        finally:
            self._waiting.release()

    def _wait(self, missing: dict[str, int]) -> None:
        """Ask the child process for the missing fragments, and read them as they come. Raises Problem 503."""
        ends = time.monotonic() + settings.PORTICO["DESCRIPTION_WAIT"]
        while missing:
            if time.monotonic() > ends:
                raise _not_yet()
            CHILD.ask()
            time.sleep(min(_PAUSE * math.ceil(len(missing) / AT_ONCE), _LONGEST_PAUSE))
            self._read(missing)

    def _read(self, missing: dict[str, int]) -> None:
        """Read the fragments that the database has, and remove them from `missing` (ids by digest)."""
        digests = list(missing)
        for start in range(0, len(digests), AT_ONCE):
            stored = self._stored(digests[start : start + AT_ONCE])
            self._fragments.update(stored)
            for digest in stored:
                del missing[digest]
            if not stored:
                # The rest is being made: asking for it would only keep the database busy.
                return

    def _stored(self, digests: Collection[str]) -> Mapping[str, Fragment]:
        return {
            digest: read(content, self._components) for digest, content in read_fragments(digests).items()
        }


def _not_yet() -> Problem:
    return Problem(
        503,
        "not_described_yet",
        "The description is being made. Try again in a few seconds.",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


FRAGMENTS = FragmentCache()
