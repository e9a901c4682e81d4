"""Snapshots from the definitions' table, as few reads as a change needs.

A process keeps the last few by their revision's token. Since tokens are random, a snapshot read inside a
transaction that is rolled back later can never be taken for another. A new one shares with the one before
what the change in between did not touch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from crmbox.engine.definitions import ENTITY_JSON, OPTION_SET_JSON, Kind
from crmbox.engine.dialects.base import Dialect, Row, Storage
from crmbox.engine.revision import Revision
from crmbox.engine.snapshot import Snapshot, StoredEntity, stored_entity
from crmclient.metadata import OptionSet

KEPT = 4
"""The most snapshots that a process keeps."""

T = TypeVar("T")
Rows = Callable[[str, Sequence[Any]], list[Row]]
"""Returns the rows of a statement with parameters."""


def snapshot_at(revision: Revision, dialect: Dialect, rows: Rows) -> Snapshot:
    """Return the snapshot of a revision.

    `rows` must read by the connection that read the revision: only that one sees definitions that it has not
    committed yet.
    """
    loaded = _recent.get(revision.token)
    if loaded is None:
        loaded = _load(revision, dialect, rows, _recent.latest())
        _recent.keep(loaded)
    return loaded.snapshot


def latest_snapshot(dialect: Dialect) -> Snapshot | None:
    """Return the snapshot that was made last. Only the database knows whether it is still valid."""
    latest = _recent.latest()
    return None if latest is None or latest.snapshot.dialect is not dialect else latest.snapshot


class _Stored(Generic[T]):
    """A definition as text, which becomes a value when it is first needed."""

    __slots__ = ("_parse", "_text", "_value", "token")

    def __init__(self, token: str, text: str, parse: Callable[[str], T]) -> None:
        self.token = token
        self._text: str | None = text
        self._parse = parse
        self._value: T | None = None

    def value(self) -> T:
        """Return the definition, which is parsed at the first call. Threads may call it at the same time."""
        # The text is read first: another thread drops it only after it has set the value.
        text = self._text
        if self._value is None and text is not None:
            self._value = self._parse(text)
            self._text = None
        assert self._value is not None  # noqa: S101
        return self._value


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A snapshot with the stored form of its definitions, of which the next one takes over what has not
    changed.
    """

    snapshot: Snapshot
    entities: Mapping[str, _Stored[StoredEntity]]
    option_sets: Mapping[str, _Stored[OptionSet]]

    def tokens(self) -> dict[tuple[Kind, str], str]:
        """Return the token of every definition by its kind and name."""
        return {
            **{(Kind.ENTITY, name): stored.token for name, stored in self.entities.items()},
            **{(Kind.OPTION_SET, name): stored.token for name, stored in self.option_sets.items()},
        }


class _Recent:
    """The process's snapshots by token, the latest last."""

    def __init__(self) -> None:
        self._by_token: OrderedDict[str, _Loaded] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, token: str) -> _Loaded | None:
        return self._by_token.get(token)

    def latest(self) -> _Loaded | None:
        with self._lock:
            return next(reversed(self._by_token.values()), None)

    def keep(self, loaded: _Loaded) -> None:
        with self._lock:
            self._by_token[loaded.snapshot.revision.token] = loaded
            while len(self._by_token) > KEPT:
                self._by_token.popitem(last=False)


_recent = _Recent()


def _load(revision: Revision, dialect: Dialect, rows: Rows, previous: _Loaded | None) -> _Loaded:
    """Read the definitions that have changed since `previous`. Unchanged ones are taken over. Each is parsed
    when it is first needed.
    """
    if previous is None or previous.snapshot.dialect is not dialect:
        previous = _Loaded(Snapshot(revision, dialect, {}, {}), {}, {})
    # Each definition has a token, which is another one after each change of the definition.
    tokens = previous.tokens()
    stamps = rows("SELECT kind, name, token FROM crm_definition ORDER BY kind, name", ())
    # By the name alone: what has another kind and the same name is read as well, which does no harm.
    changed = sorted({name for kind, name, token in stamps if tokens.get((kind, name)) != token})
    documents = rows(
        f"SELECT kind, name, token, document FROM crm_definition WHERE {dialect.among('name', Storage.TEXT)}",
        (dialect.list_parameter(changed),),
    )
    changed_documents = {(kind, name): (token, text) for kind, name, token, text in documents}

    def parse_entity(text: str) -> StoredEntity:
        return stored_entity(ENTITY_JSON.validate_json(text), dialect)

    entities = _merged(Kind.ENTITY, stamps, previous.entities, changed_documents, parse_entity)
    option_sets = _merged(
        Kind.OPTION_SET, stamps, previous.option_sets, changed_documents, OPTION_SET_JSON.validate_json
    )
    return _Loaded(Snapshot(revision, dialect, entities, option_sets), entities, option_sets)


def _merged(
    kind: Kind,
    stamps: list[Row],
    previous: Mapping[str, _Stored[T]],
    changed_documents: Mapping[tuple[str, str], tuple[str, str]],
    parse: Callable[[str], T],
) -> dict[str, _Stored[T]]:
    """Return every definition of a kind: as just read, or else as in the `previous` snapshot. Removed ones
    are left out.

    `stamps` are the kind, name and token of every definition that exists now; `changed_documents` holds the
    token and the JSON text of those that have changed, by kind and name.
    """
    merged = {}
    for stamped_kind, name, _ in stamps:
        if stamped_kind != kind:
            continue
        if (kind, name) in changed_documents:
            merged[name] = _Stored(*changed_documents[kind, name], parse)
        elif name in previous:
            merged[name] = previous[name]
    return merged
