"""The metadata as it is known: in memory, else in the store, else from the platform.

The last good copy serves while the platform is away. `refresh` fetches everything anew that has been asked
for, and raises the store's revision when anything is different; other processes see that by the revision.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from crmclient.dataverse.metadata import documents
from crmclient.dataverse.metadata.documents import EntityDocument, ProcessDocument
from crmclient.dataverse.metadata.metadata_requests import Fetcher
from crmclient.dataverse.metadata.pending_fetches import HowToFetch, PendingFetches
from crmclient.dataverse.metadata.store import MetadataStore
from crmclient.dataverse.metadata.stored_documents import (
    DENIED,
    documents_of,
    entities_in,
    stored_name,
)
from crmclient.errors import (
    InvalidQuery,
    MetadataPending,
    MissingPrivilege,
    UnknownEntity,
)
from crmclient.metadata import Entity, OptionSet
from crmclient.metadata_deadline import seconds_to_wait
from crmclient.metadata_parts import (
    ENTITIES,
    ENTITY,
    LANGUAGES,
    OPTION_SETS,
    OPTIONS,
    PROCESSES,
    RELATIONSHIPS,
    SERVICE_USER,
    STAMP,
)
from crmclient.metadata_progress import asking_for, expect_parts
from crmclient.values import Guid

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _LoadedDocuments:
    """The documents of one revision of the store that are in memory."""

    revision: str
    values: dict[str, Any] = field(default_factory=dict)


class Catalogue:
    """The organisation's metadata, from memory, the store or Dataverse. Safe to share between threads.

    Threads that miss the same document at once wait for one of them to fetch it.
    """

    def __init__(self, fetcher: Fetcher, store: MetadataStore) -> None:
        self._fetcher = fetcher
        self._store = store
        self._loaded: _LoadedDocuments | None = None
        # One thread refreshes at a time.
        self._refreshing = threading.Lock()
        # By revision and name: the documents that a thread is looking for. The lock guards them.
        self._searching = threading.Lock()
        self._searches: dict[tuple[str, str], Future[Any]] = {}
        self._fetches = PendingFetches(fetcher, store)

    def synchronise(self) -> None:
        """Forget what is in memory when the store has another revision."""
        revision = self._store.revision()
        if self._loaded is None or self._loaded.revision != revision:
            self._loaded = _LoadedDocuments(revision)

    def revision(self) -> str:
        self.synchronise()
        return self._store.revision()

    def refreshed(self) -> dt.datetime | None:
        return self._store.refreshed()

    def entities(self) -> Mapping[str, Entity]:
        return self._get(ENTITIES, documents.ENTITIES, self._fetcher.entities)

    def entity(self, name: str) -> Entity:
        """Return an entity. Raises UnknownEntity."""
        entity = self.entities().get(name)
        if entity is None:
            raise UnknownEntity(name)
        return entity

    def document(self, name: str) -> EntityDocument:
        """Return the metadata document of an entity. Raises UnknownEntity."""
        self.entity(name)
        return self._get(ENTITY + name, documents.ENTITY, lambda: self._fetcher.entity(name))

    def option_sets(self) -> Mapping[str, OptionSet]:
        return self._get(OPTION_SETS, documents.OPTION_SETS, self._fetcher.option_sets)

    def processes(self) -> Mapping[str, ProcessDocument]:
        return self._get(PROCESSES, documents.PROCESSES, self._fetcher.processes)

    def languages(self) -> tuple[int, ...]:
        return self._get(LANGUAGES, documents.LANGUAGES, self._fetcher.languages)

    def service_user(self) -> Guid:
        return self._get(SERVICE_USER, documents.IDENTITY, self._fetcher.service_user)

    def fetch_ahead(self, entities: Iterable[str]) -> None:
        """Begin to fetch the documents of some entities that are not known yet. Does not wait."""
        self.synchronise()
        loaded = {} if self._loaded is None else self._loaded.values
        missing = {ENTITIES, *(ENTITY + name for name in entities)} - loaded.keys()
        stored = set(self._store.names()) if missing else set()
        # What is in the store need not be fetched, nor what the account may not read, as the store notes.
        missing -= {name for name in missing if {stored_name(name), stored_name(DENIED + name)} & stored}
        if ENTITIES in missing:
            self._fetches.begin_ahead(ENTITIES, documents.ENTITIES, self._fetcher.entities)
        self._fetches.begin_together(sorted(missing - {ENTITIES}))

    def is_pending(self) -> bool:
        """Whether this process is fetching a document that somebody has asked for."""
        return self._fetches.any_under_way()

    def refresh(self) -> bool:
        """Fetch all metadata anew. Return whether they differ from the stored ones.

        Raises PlatformFailure, and then keeps what is stored.
        """
        with self._refreshing:
            fetched = self._fetch_all()
            stored_documents = {name: self._store.load(name) or b"" for name in self._store.names()}
            changed = self._store_refreshed(stored_documents, fetched)
        self.synchronise()
        return changed

    def refresh_changed(self) -> bool:
        """Fetch what has changed since the last refresh. Return whether anything differs.

        The platform does not tell changes of global option sets. They are fetched if anybody has asked for
        them. Everything is fetched where the platform tells no changes, or no longer knows the stored stamp,
        and where it denies the list of entities and the store has none that can be read. Otherwise processes,
        languages and the service's user are not fetched. Raises PlatformFailure, and then keeps what is
        stored.
        """
        needs_everything = changed = False
        with self._refreshing:
            stored_documents = {name: self._store.load(name) or b"" for name in self._store.names()}
            fetched = self._fetch_changed(stored_documents)
            if fetched is None:
                needs_everything = True
            else:
                changed = self._store_refreshed(stored_documents, fetched)
        if needs_everything:
            # Outside the lock: `refresh` takes the same lock.
            return self.refresh()
        self.synchronise()
        return changed

    def _fetch_changed(self, stored_documents: Mapping[str, bytes]) -> dict[str, bytes] | None:
        """Return the documents in `stored_documents` as they are now; None when all of them have to be
        fetched.
        """
        stamp = self._load(stored_name(STAMP), documents.STAMP)
        if stamp is None:
            return None
        fetcher = self._fetcher
        try:
            with asking_for(STAMP):
                changes = fetcher.changes(stamp)
        except (InvalidQuery, UnknownEntity, MissingPrivilege):
            return None
        fetched = {**stored_documents, stored_name(STAMP): documents.STAMP.dump_json(changes.stamp)}
        to_fetch: dict[str, HowToFetch] = {}
        changed: set[str] = set()
        # The platform does not tell their changes. They are fetched if anybody has asked for them.
        if {stored_name(OPTION_SETS), stored_name(DENIED + OPTION_SETS)} & stored_documents.keys():
            to_fetch[OPTION_SETS] = (documents.OPTION_SETS, fetcher.option_sets)
        asked_for = entities_in(stored_documents)
        # What was deleted is not named, so that every entity may lack something.
        names = asked_for if changes.deleted else asked_for & changes.entities
        if changes.deleted or changes.entities:
            fetched.update(documents_of(ENTITIES, documents.ENTITIES, fetcher.entities))
            try:
                present = documents.ENTITIES.validate_json(fetched[stored_name(ENTITIES)]).keys()
            except (KeyError, ValidationError):
                # They may not be read now, and the store has none, or those of another release.
                return None
            for gone in asked_for - present:
                fetched.pop(stored_name(ENTITY + gone), None)
            changed = names & present
        for name in (*to_fetch, *(ENTITY + name for name in changed)):
            # A privilege that was missing may be there by now: what is fetched below says so. The documents
            # about an entity's parts have its name, a slash and the part's name.
            denied = stored_name(DENIED + name)
            for key in [key for key in fetched if f"{key}/".startswith(f"{denied}/")]:
                del fetched[key]
        of_entities = self._with_known_parts(self._fetches.fetch_entities(changed))
        return fetched | self._fetches.fetch_together(to_fetch) | of_entities

    def _store_refreshed(self, stored_documents: Mapping[str, bytes], fetched: Mapping[str, bytes]) -> bool:
        """Store what was fetched. Return whether it differs from `stored_documents`. A different stamp alone
        does not count.
        """
        stamp = stored_name(STAMP)
        # Compared with the same empty stamp on both sides.
        changed = {**stored_documents, stamp: b""} != {**fetched, stamp: b""}
        # What others have stored meanwhile may be older than a new stamp. Kept beside it, it would count as
        # up to date. It is fetched again when somebody needs it.
        came_meanwhile = set(self._store.names()) - stored_documents.keys()
        is_stamp_new = fetched.get(stamp) != stored_documents.get(stamp)
        if changed or (came_meanwhile and is_stamp_new):
            self._store.replace(fetched)
        else:
            if stamp in fetched:
                self._store.save(stamp, fetched[stamp])
            self._store.confirm()
        return changed

    def missing_privileges(self) -> Mapping[str, str]:
        """Return what is unknown of the metadata, as `KeepsMetadata` describes it."""
        # A part that the account may not read is stored as the name of the privilege, behind this prefix.
        prefix = stored_name(DENIED)
        return {
            stored.removeprefix(prefix): self._load(stored, documents.PRIVILEGE) or ""
            for stored in sorted(self._store.names())
            if stored.startswith(prefix)
        }

    def _fetch_all(self) -> dict[str, bytes]:
        """Fetch every document that has been asked for, and those that every organisation has one of. Return
        them by name in the store.

        What was known before a privilege was taken away stays in use: whole documents, and the parts of an
        entity's. Of processes and languages, the part that may be read replaces what was known.
        """
        fetcher = self._fetcher
        expect_parts((STAMP, ENTITIES, OPTION_SETS, PROCESSES, LANGUAGES, SERVICE_USER))
        expect_parts(ENTITY + name for name in entities_in(self._store.names()))
        # First: what changes while the rest is fetched counts as changed the next time.
        stamp = self._fetches.stamp()
        fetched = stamp | self._fetches.fetch_together(
            {
                ENTITIES: (documents.ENTITIES, fetcher.entities),
                OPTION_SETS: (documents.OPTION_SETS, fetcher.option_sets),
                PROCESSES: (documents.PROCESSES, fetcher.processes),
                LANGUAGES: (documents.LANGUAGES, fetcher.languages),
                SERVICE_USER: (documents.IDENTITY, fetcher.service_user),
            }
        )
        asked_for = entities_in(self._store.names())
        self._add_stored(ENTITIES, documents.ENTITIES, fetched)
        # Without this document, which is then neither fetched nor stored, no entity is known to exist.
        entities = documents.ENTITIES.validate_json(fetched.get(stored_name(ENTITIES), b"{}"))
        present = asked_for & entities.keys()
        fetched |= self._with_known_parts(self._fetches.fetch_entities(present))
        for name in present:
            self._add_stored(ENTITY + name, documents.ENTITY, fetched)
        self._add_stored(OPTION_SETS, documents.OPTION_SETS, fetched)
        self._add_stored(PROCESSES, documents.PROCESSES, fetched)
        self._add_stored(LANGUAGES, documents.LANGUAGES, fetched)
        self._add_stored(SERVICE_USER, documents.IDENTITY, fetched)
        return fetched

    def _add_stored(self, name: str, adapter: TypeAdapter[Any], fetched: dict[str, bytes]) -> None:
        """Add the document that the store holds to `fetched`, if it could not be fetched for want of a
        privilege. One of another release, which cannot be read, is left out.
        """
        stored = stored_name(name)
        if stored in fetched:
            return
        held_document = self._store.load(stored)
        if held_document is not None and self._load(stored, adapter) is not None:
            fetched[stored] = held_document

    def _with_known_parts(self, fetched: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return fetched documents of entities. Parts that may not be read any more are as the store has
        them.
        """
        completed = dict(fetched)
        for name in entities_in(fetched):
            stored = stored_name(ENTITY + name)
            denied_parts = (
                stored_name(f"{DENIED}{ENTITY}{name}/{part}") for part in (RELATIONSHIPS, OPTIONS)
            )
            if stored not in fetched or fetched.keys().isdisjoint(denied_parts):
                continue
            earlier = self._load(stored, documents.ENTITY)
            if earlier is not None:
                document = documents.ENTITY.validate_json(fetched[stored])
                completed[stored] = documents.ENTITY.dump_json(document.with_parts_of(earlier))
        return completed

    def _get(self, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> Found:
        """Return a document from memory, else from the store, else from the platform."""
        if self._loaded is None:
            self.synchronise()
        cache = self._loaded
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
        same requests. Raises MetadataPending when the work under way cannot wait for it any longer.
        """
        # Who has seen a later revision must not get what was found for an earlier one.
        key = (revision, name)
        while True:
            with self._searching:
                search: Future[Found] | None = self._searches.get(key)
                if search is None:
                    own_search: Future[Found] = Future()
                    self._searches[key] = own_search
                    break
            if not wait([search], seconds_to_wait()).done:
                raise MetadataPending
            error = search.exception()
            if error is None:
                return search.result()
            # The thread that searched could not wait any longer; this one may still wait.
            if not isinstance(error, MetadataPending) or seconds_to_wait() == 0:
                raise error.with_traceback(None)
        try:
            value = self._load(stored_name(name), adapter)
            if value is None:
                value = self._fetch_and_store(name, adapter, fetch)
        except BaseException as error:
            own_search.set_exception(error)
            raise
        else:
            own_search.set_result(value)
            return value
        finally:
            with self._searching:
                del self._searches[key]

    def _fetch_and_store(self, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> Found:
        """Fetch a document, and store it. Raises MissingPrivilege.

        The privilege that is missing to read a document is stored in its place: the platform is not asked
        again until the next refresh. Raises MetadataPending when the work under way cannot wait any longer.
        The fetch goes on then, and its result is for whoever asks next.
        """
        denied = stored_name(DENIED + name)
        privilege = self._load(denied, documents.PRIVILEGE)
        if privilege is not None:
            raise MissingPrivilege(privilege)
        # The store may be refreshed in the meantime. What was fetched before that is fetched again.
        while True:
            pending = self._fetches.begin(name, adapter, fetch)
            if not pending.fetch.is_done_within(seconds_to_wait()):
                raise MetadataPending
            stamp, fetched = self._fetches.result(name, pending)
            if self._fetches.can_be_stored(pending, stamp):
                break
        for stored, content in {**stamp, **fetched}.items():
            self._store.save(stored, content)
        if stored_name(name) not in fetched:
            raise MissingPrivilege(documents.PRIVILEGE.validate_json(fetched[denied]))
        return adapter.validate_json(fetched[stored_name(name)])

    def _load(self, name: str, adapter: TypeAdapter[Found]) -> Found | None:
        """Return a document from the store; None without one, and for one of another release."""
        raw = self._store.load(name)
        if raw is None:
            return None
        try:
            return adapter.validate_json(raw)
        except ValidationError:
            return None
