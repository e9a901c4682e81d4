"""The metadata as it is known: in memory, else in the store, else from the platform.

The last good copy serves while the platform is away. `refresh` fetches everything anew that has been asked
for, and raises the store's revision when anything is different; other processes see that by the revision.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from crmclient.dataverse.metadata import documents
from crmclient.dataverse.metadata.documents import EntityDocument, ProcessDocument
from crmclient.dataverse.metadata.fetching import Fetcher
from crmclient.dataverse.metadata.store import MetadataStore
from crmclient.errors import UnknownEntity
from crmclient.metadata import Entity, OptionSet
from crmclient.values import Guid

FORMAT: Final = "1"
"""Part of every document's name: a later form of documents does not meet those of an earlier one."""

_ENTITIES, _OPTION_SETS, _PROCESSES = "entities", "optionsets", "processes"
_LANGUAGES, _SERVICE_USER, _ENTITY = "languages", "serviceuser", "entity/"

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Known:
    """What is in memory of one revision of the store."""

    revision: str
    values: dict[str, Any] = field(default_factory=dict)


class Catalogue:
    """Safe to share between threads: two that miss the same document may both fetch it."""

    def __init__(self, fetcher: Fetcher, store: MetadataStore) -> None:
        self._fetcher = fetcher
        self._store = store
        self._known: _Known | None = None
        self._refreshing = threading.Lock()

    def synchronise(self) -> None:
        """Forget what is in memory when the store has another revision."""
        revision = self._store.revision()
        if self._known is None or self._known.revision != revision:
            self._known = _Known(revision)

    def revision(self) -> str:
        self.synchronise()
        return self._store.revision()

    def refreshed(self) -> dt.datetime | None:
        return self._store.refreshed()

    def entities(self) -> Mapping[str, Entity]:
        return self._get(_ENTITIES, documents.ENTITIES, self._fetcher.entities)

    def entity(self, name: str) -> Entity:
        """Raises UnknownEntity."""
        entity = self.entities().get(name)
        if entity is None:
            raise UnknownEntity(name)
        return entity

    def document(self, name: str) -> EntityDocument:
        """Raises UnknownEntity."""
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
        """Fetch all of it anew; whether it differed. Raises PlatformFailure, and then nothing has changed."""
        with self._refreshing:
            fetched = self._fetch_all()
            held = {name: self._store.load(name) for name in self._store.names()}
            changed = held != fetched
            if changed:
                self._store.replace(fetched)
            else:
                self._store.confirm()
        self.synchronise()
        return changed

    def _fetch_all(self) -> dict[str, bytes]:
        fetcher = self._fetcher
        entities = fetcher.entities()
        fetched = {
            _stored(_ENTITIES): documents.ENTITIES.dump_json(entities),
            _stored(_OPTION_SETS): documents.OPTION_SETS.dump_json(fetcher.option_sets()),
            _stored(_PROCESSES): documents.PROCESSES.dump_json(fetcher.processes()),
            _stored(_LANGUAGES): documents.LANGUAGES.dump_json(fetcher.languages()),
            _stored(_SERVICE_USER): documents.IDENTITY.dump_json(fetcher.service_user()),
        }
        prefix = _stored(_ENTITY)
        for stored in self._store.names():
            name = stored.removeprefix(prefix)
            if stored.startswith(prefix) and name in entities:
                fetched[stored] = documents.ENTITY.dump_json(fetcher.entity(name))
        return fetched

    def _get(self, name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> Found:
        if self._known is None:
            self.synchronise()
        known = self._known
        assert known is not None  # noqa: S101  for the type checker: just synchronised
        if name in known.values:
            found: Found = known.values[name]
            return found
        value = self._load(_stored(name), adapter)
        if value is None:
            value = fetch()
            self._store.save(_stored(name), adapter.dump_json(value))
        known.values[name] = value
        return value

    def _load(self, name: str, adapter: TypeAdapter[Found]) -> Found | None:
        raw = self._store.load(name)
        if raw is None:
            return None
        try:
            return adapter.validate_json(raw)
        except ValidationError:
            return None


def _stored(name: str) -> str:
    return f"{FORMAT}/{name}"
