"""Where metadata is kept: by `project` in the database, by the store in memory until the process ends."""

from __future__ import annotations

import datetime as dt
import threading
import uuid
from collections.abc import Mapping, Sequence
from typing import Protocol


class MetadataStore(Protocol):
    """Documents by name, for one organisation. Used from any thread."""

    def revision(self) -> str:
        """Return a text that changes with every `replace`, and with nothing else. Compare it for equality
        only.
        """
        ...

    def refreshed(self) -> dt.datetime | None:
        """Return the time of the last `replace` or `confirm`; None before the first."""
        ...

    def names(self) -> Sequence[str]:
        """Return the names of all documents."""
        ...

    def load(self, name: str) -> bytes | None:
        """Return a document; None if there is none of that name."""
        ...

    def save(self, name: str, document: bytes) -> None:
        """Add a document that was not there before, or that could not be read any more."""
        ...

    def replace(self, documents: Mapping[str, bytes]) -> None:
        """Keep these documents and no others, in one step. This is a refresh that found changes."""
        ...

    def confirm(self) -> None:
        """Note the time of a refresh that found no changes. The revision stays."""
        ...


class MemoryStore:
    """A store that lives as long as the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: dict[str, bytes] = {}
        self._revision = "0"
        self._refreshed: dt.datetime | None = None

    def revision(self) -> str:
        return self._revision

    def refreshed(self) -> dt.datetime | None:
        return self._refreshed

    def names(self) -> Sequence[str]:
        with self._lock:
            return list(self._documents)

    def load(self, name: str) -> bytes | None:
        return self._documents.get(name)

    def save(self, name: str, document: bytes) -> None:
        with self._lock:
            self._documents[name] = document

    def replace(self, documents: Mapping[str, bytes]) -> None:
        """Keep these documents and no others, under a new revision."""
        with self._lock:
            self._documents = dict(documents)
            self._revision = uuid.uuid4().hex
            self._refreshed = dt.datetime.now(dt.UTC)

    def confirm(self) -> None:
        self._refreshed = dt.datetime.now(dt.UTC)
