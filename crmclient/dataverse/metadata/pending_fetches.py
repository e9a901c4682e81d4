"""Fetches of documents that go on whether somebody waits for them or not, and those that have just failed."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import TypeAdapter

from crmclient.dataverse.metadata import documents
from crmclient.dataverse.metadata.documents import EntityDocument
from crmclient.dataverse.metadata.fetch_threads import Fetch, FetchOfPart, FetchThreads
from crmclient.dataverse.metadata.metadata_requests import AT_ONCE, Fetcher
from crmclient.dataverse.metadata.store import MetadataStore
from crmclient.dataverse.metadata.stored_documents import (
    documents_of,
    entity_documents,
    stored_name,
)
from crmclient.errors import (
    DeadlineExceeded,
    InvalidQuery,
    MetadataLate,
    MissingPrivilege,
    PlatformFailure,
    UnexpectedAnswer,
    UnknownEntity,
)
from crmclient.metadata_parts import ENTITY, STAMP
from crmclient.metadata_progress import asking_for

TOGETHER: Final = 12
"""Entities that one request asks for. Some have a thousand attributes, and an answer has a limit."""

FAILED_SECONDS: Final = 5.0
"""So long at least a document that the platform did not give is not asked for again, except by a refresh."""

Fetched = tuple[Mapping[str, bytes], Mapping[str, bytes]]
"""The stamp of a store that was empty, and the documents to store."""

HowToFetch = tuple[TypeAdapter[Any], Callable[[], Any]]
"""What writes a document as JSON, and the request that fetches it."""


@dataclass(frozen=True, slots=True)
class PendingFetch:
    """The fetch of a document that nobody has stored yet. `refreshed` is when the store was refreshed last,
    when it began.
    """

    fetch: Fetch[Fetched] | FetchOfPart[Fetched]
    refreshed: dt.datetime | None


@dataclass(frozen=True, slots=True)
class _Failure:
    """A fetch that failed. Until a time of the monotonic clock, the document is not asked for again."""

    error: PlatformFailure
    until: float


class PendingFetches:
    """The fetches of this process. Safe to share between threads.

    They run on threads of their own, which leave the store alone: who asks has the database's connection.
    """

    def __init__(self, fetcher: Fetcher, store: MetadataStore) -> None:
        self._fetcher = fetcher
        self._store = store
        self._threads = FetchThreads(AT_ONCE)
        # By the document's name, both; the lock guards them.
        self._lock = threading.Lock()
        self._fetches: dict[str, PendingFetch] = {}
        self._failures: dict[str, _Failure] = {}
        # While one thread asks for the stamp below, the others wait for it.
        self._stamping = threading.Lock()
        self._stamp_of_empty_store: Mapping[str, bytes] | None = None

    def begin(self, name: str, adapter: TypeAdapter[Any], fetch: Callable[[], Any]) -> PendingFetch:
        """Return the fetch of a document that is under way, or begin one. Raises what has just failed.

        A page of the studio needs a document dozens of times. Each would wait as long as the first, or add
        to what a platform that throttles is asked.
        """
        with self._lock:
            pending = self._fetches.get(name)
            if pending is not None:
                return pending
            failure = self._failures.get(name)
            if failure is not None and time.monotonic() < failure.until:
                # Without the frames of whoever was told before.
                raise failure.error.with_traceback(None)
        is_store_empty, refreshed = not self._store.names(), self._store.refreshed()
        work = partial(self._fetch_document, name, adapter, fetch, is_store_empty=is_store_empty)
        with self._lock:
            if name not in self._fetches:
                self._fetches[name] = PendingFetch(self._threads.start(work), refreshed)
            return self._fetches[name]

    def begin_ahead(self, name: str, adapter: TypeAdapter[Any], fetch: Callable[[], Any]) -> None:
        """Begin to fetch a document, unless it is being fetched or has just failed."""
        with suppress(PlatformFailure):
            self.begin(name, adapter, fetch)

    def begin_together(self, names: Sequence[str]) -> None:
        """Begin to fetch the documents of some entities, except those that are being fetched or have just
        failed.

        One request asks for up to TOGETHER of them, since a slow platform is slow for each request. Each
        document has a pending fetch of its own, which waits for that request and takes its part of the
        answer.
        """
        if not names:
            return
        is_store_empty, refreshed = not self._store.names(), self._store.refreshed()
        now = time.monotonic()
        with self._lock:
            failed = {name for name, failure in self._failures.items() if now < failure.until}
            to_begin = [name for name in names if name not in self._fetches and name not in failed]
            for start in range(0, len(to_begin), TOGETHER):
                batch = to_begin[start : start + TOGETHER]
                batch_fetch = self._threads.start(
                    partial(self._fetch_batch, batch, is_store_empty=is_store_empty)
                )
                for name in batch:
                    fetch = FetchOfPart(batch_fetch, partial(_part_of, name))
                    self._fetches[name] = PendingFetch(fetch, refreshed)

    def result(self, name: str, pending: PendingFetch) -> Fetched:
        """Return what was fetched, and forget the fetch. Raises what went wrong."""
        try:
            return pending.fetch.result()
        finally:
            with self._lock:
                if self._fetches.get(name) is pending:
                    del self._fetches[name]

    def any_under_way(self) -> bool:
        with self._lock:
            return any(not pending.fetch.is_done_within(0) for pending in self._fetches.values())

    def can_be_stored(self, pending: PendingFetch, first_stamp: Mapping[str, bytes]) -> bool:
        """Whether what was fetched is as recent as what is in the store.

        A stamp is the platform's word for a state of its metadata. `first_stamp` is the one that was taken
        before the fetch for an empty store; empty where the store was not empty, or there is no stamp.

        An older document must not be stored: without its changes since then, it would count as up to date.
        """
        if pending.refreshed != self._store.refreshed():
            return False
        if not first_stamp or not self._store.names():
            return True
        # Another process was quicker to fill the store. With a stamp of its own, it may know of later
        # changes.
        return {stored_name(STAMP): self._store.load(stored_name(STAMP))} == first_stamp

    def fetch_together(self, to_fetch: Mapping[str, HowToFetch]) -> dict[str, bytes]:
        """Fetch documents by name, several at once. Return what is to be stored, by name in the store."""
        fetches = [
            self._threads.start(partial(_ask_for_document, name, adapter, fetch))
            for name, (adapter, fetch) in to_fetch.items()
        ]
        return {name: content for fetch in fetches for name, content in fetch.result().items()}

    def fetch_entities(self, names: Collection[str]) -> dict[str, bytes]:
        """Fetch the documents of some entities. Return what is to be stored, by name in the store."""
        sorted_names = sorted(names)
        if len(sorted_names) < 2:
            # One alone is fetched by the same requests as for a page.
            return self.fetch_together(
                {
                    ENTITY + name: (documents.ENTITY, partial(self._fetcher.entity, name))
                    for name in sorted_names
                }
            )
        fetches = [
            self._threads.start(partial(self._ask_for_entities, sorted_names[start : start + TOGETHER]))
            for start in range(0, len(sorted_names), TOGETHER)
        ]
        return {
            name: content
            for fetch in fetches
            for entity, document in fetch.result().items()
            for name, content in entity_documents(entity, document).items()
        }

    def _ask_for_entities(self, names: Sequence[str]) -> dict[str, EntityDocument | MissingPrivilege]:
        """Return what `Fetcher.documents` returns."""
        with asking_for(*(ENTITY + name for name in names)):
            return self._fetcher.documents(names)

    def stamp(self) -> dict[str, bytes]:
        """Return the platform's present stamp by its name in the store; empty where it has none."""
        try:
            with asking_for(STAMP):
                return {stored_name(STAMP): documents.STAMP.dump_json(self._fetcher.stamp())}
        except (InvalidQuery, UnknownEntity, UnexpectedAnswer):
            # It tells no changes: each refresh fetches everything.
            return {}

    def _fetch_document(
        self, name: str, adapter: TypeAdapter[Any], fetch: Callable[[], Any], *, is_store_empty: bool
    ) -> Fetched:
        """Return the stamp of a store that is empty, and the documents to store under a name."""
        with self._remembering_failure(name):
            return self._first_stamp() if is_store_empty else {}, _ask_for_document(name, adapter, fetch)

    def _fetch_batch(self, keys: Sequence[str], *, is_store_empty: bool) -> dict[str, Fetched]:
        """Return what `_fetch_document` returns, for each of several entities without the unknown ones."""
        with self._remembering_failure(*keys):
            stamp = self._first_stamp() if is_store_empty else {}
            fetched_by_name = self._ask_for_entities([key.removeprefix(ENTITY) for key in keys])
            return {
                ENTITY + name: (stamp, entity_documents(name, document))
                for name, document in fetched_by_name.items()
            }

    @contextmanager
    def _remembering_failure(self, *names: str) -> Iterator[None]:
        """Remember a failure to fetch these documents, so that they are not asked for again at once.

        Only failures of the platform are remembered. After any other error, whoever asks next fetches again.
        """
        start = time.monotonic()
        try:
            with _late_metadata():
                yield
        except BaseException as error:
            now = time.monotonic()
            with self._lock:
                for name in names:
                    # Whoever asks next must not be given the fetch that has failed.
                    self._fetches.pop(name, None)
                    if isinstance(error, PlatformFailure):
                        wait_asked_for = error.retry_after or FAILED_SECONDS
                        # A page that waits for several slow documents, one after the other, must end before
                        # the first is asked for again.
                        wait = max(wait_asked_for, 2 * (now - start))
                        self._failures[name] = _Failure(error, now + wait)
            raise
        with self._lock:
            for name in names:
                self._failures.pop(name, None)

    def _first_stamp(self) -> Mapping[str, bytes]:
        """Return the stamp to be stored in an empty store; empty where there is none.

        It is taken before anything is fetched: the first refresh then asks only for changes, and misses none.
        """
        with self._stamping:
            if self._stamp_of_empty_store is None:
                try:
                    self._stamp_of_empty_store = self.stamp()
                except PlatformFailure:
                    return {}
            return self._stamp_of_empty_store


def _ask_for_document(name: str, adapter: TypeAdapter[Any], fetch: Callable[[], Any]) -> dict[str, bytes]:
    """Fetch a document. Return what is to be stored, by name in the store."""
    with asking_for(name):
        return documents_of(name, adapter, fetch)


@contextmanager
def _late_metadata() -> Iterator[None]:
    """Raise MetadataLate for DeadlineExceeded: callers must not take it for a late answer to a write."""
    try:
        yield
    except DeadlineExceeded as error:
        raise MetadataLate(str(error), retry_after=error.retry_after) from error


def _part_of(key: str, fetched_by_key: Mapping[str, Fetched]) -> Fetched:
    """Return what was fetched of one entity. Raises UnknownEntity."""
    if key not in fetched_by_key:
        raise UnknownEntity(key.removeprefix(ENTITY))
    return fetched_by_key[key]
