"""The metadata as it is known: in memory, else in the store, else from the platform.

The last good copy serves while the platform is away. `refresh` fetches everything anew that has been asked
for, and raises the store's revision when anything is different; other processes see that by the revision.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from crmclient.dataverse.metadata import documents
from crmclient.dataverse.metadata.documents import EntityDocument, ProcessDocument
from crmclient.dataverse.metadata.metadata_requests import Fetcher, PartlyKnown
from crmclient.dataverse.metadata.store import MetadataStore
from crmclient.errors import (
    InvalidQuery,
    MissingPrivilege,
    PlatformFailure,
    UnexpectedAnswer,
    UnknownEntity,
)
from crmclient.metadata import Entity, OptionSet
from crmclient.values import Guid

FORMAT: Final = "3"
"""Part of every document's name: a later form of documents does not meet those of an earlier one."""

_ENTITIES, _OPTION_SETS, _PROCESSES = "entities", "optionsets", "processes"
_LANGUAGES, _SERVICE_USER, _ENTITY = "languages", "serviceuser", "entity/"
_STAMP = "stamp"
_DENIED = "denied/"
"""Before the name of what the service's own account may not read: that document says what it lacks."""

FAILED_SECONDS: Final = 5.0
"""So long at least a document that the platform did not give is not asked for again, except by a refresh."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _LoadedDocuments:
    """The documents of one revision of the store that are in memory."""

    revision: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A fetch that failed. Until a time of the monotonic clock, the document is not asked for again."""

    error: PlatformFailure
    until: float


class Catalogue:
    """The organisation's metadata, from memory, the store or Dataverse. Safe to share between threads.

    Threads that miss the same document at once wait for one of them to fetch it.
    """

    def __init__(self, fetcher: Fetcher, store: MetadataStore) -> None:
        self._fetcher = fetcher
        self._store = store
        self._known: _LoadedDocuments | None = None
        self._refreshing = threading.Lock()
        self._searching = threading.Lock()
        self._searches: dict[tuple[str, str], Future[Any]] = {}
        self._failures: dict[str, _Failure] = {}

    def synchronise(self) -> None:
        """Forget what is in memory when the store has another revision."""
        revision = self._store.revision()
        if self._known is None or self._known.revision != revision:
            self._known = _LoadedDocuments(revision)

    def revision(self) -> str:
        self.synchronise()
        return self._store.revision()

    def refreshed(self) -> dt.datetime | None:
        return self._store.refreshed()

    def entities(self) -> Mapping[str, Entity]:
        return self._get(_ENTITIES, documents.ENTITIES, self._fetcher.entities)

    def entity(self, name: str) -> Entity:
        """Return an entity. Raises UnknownEntity."""
        entity = self.entities().get(name)
        if entity is None:
            raise UnknownEntity(name)
        return entity

    def document(self, name: str) -> EntityDocument:
        """Return the metadata document of an entity. Raises UnknownEntity."""
        self.entity(name)
        return self._get(_ENTITY + name, documents.ENTITY, lambda: self._fetcher.entity(name))

    def option_sets(self) -> Mapping[str, OptionSet]:
        return self._get(_OPTION_SETS, documents.OPTION_SETS, self._fetcher.option_sets)

    def processes(self) -> Mapping[str, ProcessDocument]:
        return self._get(_PROCESSES, documents.PROCESSES, self._fetcher.processes)

    def languages(self) -> tuple[int, ...]:
        return self._get(_LANGUAGES, documents.LANGUAGES, self._fetcher.languages)

    def service_user(self) -> Guid:
        return self._get(_SERVICE_USER, documents.IDENTITY, self._fetcher.service_user)

    def refresh(self) -> bool:
        """Fetch all metadata anew. Return whether they differ from the stored ones.

        Raises PlatformFailure, and then keeps what is stored.
        """
        with self._refreshing:
            fetched = self._fetch_all()
            stored_documents = {name: self._store.load(name) or b"" for name in self._store.names()}
            changed = self._keep_all(stored_documents, fetched)
        self.synchronise()
        return changed

    def refresh_changed(self) -> bool:
        """Fetch what has changed since the last refresh. Return whether anything differs.

        The platform does not tell changes of global option sets. They are fetched if anybody has asked for
        them. Everything is fetched if the platform does not tell changes, or the last refresh was too long
        ago.
        """
        with self._refreshing:
            stored_documents = {name: self._store.load(name) or b"" for name in self._store.names()}
            fetched = self._fetch_changed(stored_documents)
            changed = None if fetched is None else self._keep_all(stored_documents, fetched)
        self.synchronise()
        return self.refresh() if changed is None else changed

    def _fetch_changed(self, stored_documents: Mapping[str, bytes]) -> dict[str, bytes] | None:
        """Return the documents in `stored_documents` as they are now; None when all of them have to be
        fetched.
        """
        stamp = self._load(_stored(_STAMP), documents.STAMP)
        if stamp is None:
            return None
        fetcher = self._fetcher
        try:
            changes = fetcher.changes(stamp)
        except (InvalidQuery, UnknownEntity, MissingPrivilege):
            return None
        fetched = {**stored_documents, _stored(_STAMP): documents.STAMP.dump_json(changes.stamp)}
        to_fetch: dict[str, tuple[TypeAdapter[Any], Callable[[], Any]]] = {}
        if {_stored(_OPTION_SETS), _stored(_DENIED + _OPTION_SETS)} & stored_documents.keys():
            to_fetch[_OPTION_SETS] = (documents.OPTION_SETS, fetcher.option_sets)
        asked_for = _entities_in(stored_documents)
        names = asked_for if changes.deleted else asked_for & changes.entities
        if changes.deleted or changes.entities:
            fetched.update(_documents_of(_ENTITIES, documents.ENTITIES, fetcher.entities))
            present = documents.ENTITIES.validate_json(fetched[_stored(_ENTITIES)]).keys()
            for gone in asked_for - present:
                fetched.pop(_stored(_ENTITY + gone), None)
            to_fetch |= {
                _ENTITY + name: (documents.ENTITY, partial(fetcher.entity, name)) for name in names & present
            }
        for name, (adapter, fetch) in to_fetch.items():
            # What may be read by now is unknown no more.
            denied = _stored(_DENIED + name)
            for key in [key for key in fetched if f"{key}/".startswith(f"{denied}/")]:
                del fetched[key]
            fetched.update(_documents_of(name, adapter, fetch))
        return fetched

    def _keep_all(self, stored_documents: Mapping[str, bytes], fetched: Mapping[str, bytes]) -> bool:
        """Store what was fetched. Return whether it differs from `stored_documents`. A different stamp alone
        does not count.
        """
        stamp = _stored(_STAMP)
        changed = {**stored_documents, stamp: b""} != {**fetched, stamp: b""}
        if changed:
            self._store.replace(fetched)
        else:
            if stamp in fetched:
                self._store.save(stamp, fetched[stamp])
            self._store.confirm()
        return changed

    def missing_privileges(self) -> Mapping[str, str]:
        """Return what is unknown of the metadata, as `KeepsMetadata` describes it."""
        prefix = _stored(_DENIED)
        return {
            stored.removeprefix(prefix): self._load(stored, documents.PRIVILEGE) or ""
            for stored in sorted(self._store.names())
            if stored.startswith(prefix)
        }

    def _fetch_all(self) -> dict[str, bytes]:
        """Fetch every document that has been asked for. Return them by name in the store."""
        fetcher = self._fetcher
        # First: what changes while the rest is fetched counts as changed the next time.
        stamp = self._stamp()
        fetched = {
            **stamp,
            **_documents_of(_ENTITIES, documents.ENTITIES, fetcher.entities),
            **_documents_of(_OPTION_SETS, documents.OPTION_SETS, fetcher.option_sets),
            **_documents_of(_PROCESSES, documents.PROCESSES, fetcher.processes),
            **_documents_of(_LANGUAGES, documents.LANGUAGES, fetcher.languages),
            **_documents_of(_SERVICE_USER, documents.IDENTITY, fetcher.service_user),
        }
        asked_for = _entities_in(self._store.names())
        # What was known before a privilege was taken away stays in use.
        self._keep(_ENTITIES, fetched)
        entities = documents.ENTITIES.validate_json(fetched.get(_stored(_ENTITIES), b"{}"))
        for name in asked_for & entities.keys():
            fetched.update(_documents_of(_ENTITY + name, documents.ENTITY, partial(fetcher.entity, name)))
            self._keep(_ENTITY + name, fetched)
        for name in (_OPTION_SETS, _PROCESSES, _LANGUAGES, _SERVICE_USER):
            self._keep(name, fetched)
        return fetched

    def _stamp(self) -> dict[str, bytes]:
        try:
            return {_stored(_STAMP): documents.STAMP.dump_json(self._fetcher.stamp())}
        except (InvalidQuery, UnknownEntity, UnexpectedAnswer):
            # It tells no changes: each refresh fetches everything.
            return {}

    def _keep(self, name: str, fetched: dict[str, bytes]) -> None:
        """Add the document that the store holds to `fetched`, if it could not be fetched."""
        held_document = None if _stored(name) in fetched else self._store.load(_stored(name))
        if held_document is not None:
            fetched[_stored(name)] = held_document

    def _get(self, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> Found:
        """Return a document from memory, else from the store, else from the platform."""
        if self._known is None:
            self.synchronise()
        cache = self._known
        assert cache is not None  # noqa: S101  for the type checker: just synchronised
        if name in cache.values:
            cached: Found = cache.values[name]
            return cached
        value = self._load_or_fetch_once(cache.revision, name, adapter, fetch)
        cache.values[name] = value
        return value

    def _load_or_fetch_once(
        self, revision: str, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]
    ) -> Found:
        """Return a document. If several threads need it at once, one thread loads or fetches it for all of
        them.

        If it fails, it fails for all. After a cold start each thread would otherwise spend the budget on the
        same requests.
        """
        # Who has seen a later revision must not get what was found for an earlier one.
        key = (revision, name)
        with self._searching:
            search: Future[Found] | None = self._searches.get(key)
            if search is None:
                own_search: Future[Found] = Future()
                self._searches[key] = own_search
        if search is not None:
            return search.result()
        try:
            value = self._load(_stored(name), adapter)
            if value is None:
                value = self._unless_failing(name, partial(self._fetch_and_store, name, adapter, fetch))
        except BaseException as error:
            own_search.set_exception(error)
            raise
        else:
            own_search.set_result(value)
            return value
        finally:
            with self._searching:
                del self._searches[key]

    def _unless_failing(self, name: str, fetch: Callable[[], Found]) -> Found:
        """Fetch a document, unless that has just failed: then fail alike.

        A page of the studio needs a document dozens of times. Each would wait as long as the first, or add
        to what a platform that throttles is asked.
        """
        failure = self._failures.get(name)
        if failure is not None and time.monotonic() < failure.until:
            # Without the frames of whoever was told before.
            raise failure.error.with_traceback(None)
        start = time.monotonic()
        try:
            value = fetch()
        except PlatformFailure as error:
            now = time.monotonic()
            asked_seconds = error.retry_after or FAILED_SECONDS
            # A page that waits for several slow documents, one after the other, must end before the first
            # is asked for again.
            self._failures[name] = _Failure(error, now + max(asked_seconds, 2 * (now - start)))
            raise
        self._failures.pop(name, None)
        return value

    def _fetch_and_store(self, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> Found:
        """Fetch a document, and store it. Raises MissingPrivilege.

        A document that may not be read is asked for only once: it stays unknown until the next refresh.
        """
        denied = _stored(_DENIED + name)
        privilege = self._load(denied, documents.PRIVILEGE)
        if privilege is not None:
            raise MissingPrivilege(privilege)
        stamp = self._first_stamp()
        fetched = _documents_of(name, adapter, fetch)
        if stamp and self._store.names():
            # Another process was quicker: what this one has may be older than the stamp that is there now.
            stamp, fetched = {}, _documents_of(name, adapter, fetch)
        for stored, content in {**stamp, **fetched}.items():
            self._store.save(stored, content)
        if _stored(name) not in fetched:
            raise MissingPrivilege(documents.PRIVILEGE.validate_json(fetched[denied]))
        return adapter.validate_json(fetched[_stored(name)])

    def _first_stamp(self) -> Mapping[str, bytes]:
        """Return the present stamp, to be stored in an empty store. Empty when the store has documents.

        With this stamp, also the first refresh has to ask only for what has changed.
        """
        if self._store.names():
            return {}
        try:
            return self._stamp()
        except PlatformFailure:
            return {}

    def _load(self, name: str, adapter: TypeAdapter[Found]) -> Found | None:
        """Return a document from the store; None without one, and for one of another release."""
        raw = self._store.load(name)
        if raw is None:
            return None
        try:
            return adapter.validate_json(raw)
        except ValidationError:
            return None


def _documents_of(name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> dict[str, bytes]:
    """Return the documents to store under a name: what was fetched, and the privileges that are missing for
    it.
    """
    denied: dict[str, str] = {}
    documents_by_name: dict[str, bytes] = {}
    try:
        value = fetch()
        documents_by_name[_stored(name)] = adapter.dump_json(value)
        if isinstance(value, EntityDocument):
            denied = {f"{name}/{part}": privilege for part, privilege in value.unknown.items()}
    except PartlyKnown as partly:
        documents_by_name[_stored(name)] = adapter.dump_json(partly.rest)
        denied = {name: partly.privilege}
    except MissingPrivilege as error:
        denied = {name: error.privilege}
    for part, privilege in denied.items():
        documents_by_name[_stored(_DENIED + part)] = documents.PRIVILEGE.dump_json(privilege)
    return documents_by_name


def _entities_in(stored: Iterable[str]) -> set[str]:
    """Return the logical names of the entities that the stored documents describe."""
    names = (name.removeprefix(_stored("")).removeprefix(_DENIED) for name in stored)
    return {name.removeprefix(_ENTITY).partition("/")[0] for name in names if name.startswith(_ENTITY)}


def _stored(name: str) -> str:
    return f"{FORMAT}/{name}"
