"""Loading the configuration: all of it, or only what has changed since a known revision."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from django.db import connection

from designer import rows
from designer.changed_parts import with_parts
from designer.configuration import Configuration, Endpoint, Revision, RowIds
from designer.models import Change
from designer.revision import read_revision, read_revision_and

# Not atomic(): on SQLite it would take the write lock, and readers would wait for each other.
_BEGIN = {"sqlite": "BEGIN DEFERRED", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


def load() -> Configuration:
    """Return the whole configuration as it is now. Its revision and its content are of the same moment."""
    with _one_state():
        return _load_all()


def reload(previous: Configuration) -> Configuration:
    """Return the configuration as it is now. Only what has changed since `previous` is read again."""
    with _one_state():
        revision = _present_revision()
        if revision == previous.revision:
            return previous
        committed = _inside.configuration
        if committed is not None and committed.revision == revision:
            # Results are kept for the objects of `previous`, not for those read inside the transaction.
            return replace(committed, endpoints=_sharing_objects(previous, committed.endpoints))
        changed = _changes_since(previous.revision)
        if changed is None:
            return _load_all(previous)
        base: Configuration | None = previous
        if changed.parts:
            base = with_parts(previous, revision, changed.parts)
        return (
            _load_all(previous)
            if base is None
            else _with_endpoints_read_again(base, revision, changed.endpoints)
        )


class _InTransaction(threading.local):
    """The configuration last read inside a transaction of this thread.

    No other thread may use it, because it may never be committed. Once the database has its revision, it was
    committed, and need not be read again.
    """

    configuration: Configuration | None = None


_latest: Configuration | None = None
_inside = _InTransaction()


def latest() -> Configuration:
    """Return the configuration as `load` does, reading only what has changed since this process last asked.

    For pages of the studio.
    """
    global _latest
    if not connection.in_atomic_block:
        _latest = load() if _latest is None else reload(_latest)
        return _latest
    configuration = _inside.configuration
    # No two states share a revision, so the same revision means the same state, whatever was rolled back.
    revision = _present_revision()
    if configuration is None or configuration.revision != revision:
        if _latest is not None and _latest.revision == revision:
            # What this thread saw inside a transaction may have been rolled back.
            configuration = _latest
        else:
            previous = configuration or _latest
            configuration = load() if previous is None else reload(previous)
        _inside.configuration = configuration
    return configuration


def _present_revision() -> Revision:
    """Return the revision that the database has now."""
    return read_revision()[0]


class _Changed(NamedTuple):
    """Endpoints by id, and tables that any endpoint may depend on."""

    endpoints: set[int]
    parts: set[str]


def _changes_since(since: Revision) -> _Changed | None:
    """Return what has changed after `since`; None when the log does not tell, or not all of it."""
    columns = ("number", "token", "endpoint", "part")
    entries = list(Change.objects.filter(number__gte=since.number).values_list(*columns))
    # `since` itself must be in the log. Otherwise entries after it may have been removed, or the database has
    # another history.
    if not any(number == since.number and token == since.token for number, token, *_ in entries):
        return None
    changed = _Changed(set(), set())
    for number, _, endpoint, part in entries:
        if number <= since.number:
            continue
        if endpoint is not None:
            changed.endpoints.add(endpoint)
        elif part is not None:
            changed.parts.add(part)
        else:
            # An entry without an endpoint and a table may concern everything.
            return None
    return changed


def _load_all(previous: Configuration | None = None) -> Configuration:
    """Load the configuration.

    Unchanged parts stay the same objects, so that results derived from them are found again.
    """
    # Protections come with the revision, in one query: most systems have none, and pay nothing for them.
    revision, _, protected = read_revision_and(rows.PROTECTED[connection.vendor])
    unreadable: rows.Unreadable = {}
    entities, closed = rows.entities(unreadable)
    endpoints = rows.endpoints(entities.values(), closed, unreadable)
    modules, roles = rows.modules(unreadable), rows.roles(unreadable)
    return Configuration(
        revision=revision,
        endpoints=_sharing_objects(previous, endpoints),
        modules=tuple(modules.values()),
        entities=tuple(entities.values()),
        closed_entities=closed,
        roles=tuple(roles.values()),
        caller_types=rows.caller_types(unreadable),
        issuers=rows.issuers(unreadable),
        user_properties=rows.user_properties(unreadable),
        unreadable=MappingProxyType(unreadable),
        protections=rows.protections_in(protected),
        ids=RowIds(MappingProxyType(modules), MappingProxyType(entities), MappingProxyType(roles)),
    )


def _sharing_objects(
    previous: Configuration | None, endpoints: Mapping[int, Endpoint]
) -> Mapping[int, Endpoint]:
    """Return the endpoints in their order. An equal one is the object of `previous`, so that results kept for
    that object are found again.
    """
    before = previous.endpoints if previous is not None else {}
    return _in_order({id: _same_object(before.get(id), now) for id, now in endpoints.items()})


def _in_order(endpoints: Mapping[int, Endpoint]) -> Mapping[int, Endpoint]:
    """Return the endpoints by module, exposed entity, kind and name.

    Databases order texts in ways of their own, and an endpoint that is read again comes last: without this,
    an edit would move an endpoint in the sidebar and the matrix.
    """

    def place(item: tuple[int, Endpoint]) -> tuple[str, str, str, str, int]:
        id, endpoint = item
        definition = endpoint.definition
        return definition.module, definition.exposure, definition.kind, definition.name, id

    return MappingProxyType(dict(sorted(endpoints.items(), key=place)))


def _same_object(before: Endpoint | None, now: Endpoint) -> Endpoint:
    """Return `before` when both are equal, so that results kept for this object are found.

    Otherwise, return `now`; if at least the definitions are equal, with the object of `before` for its
    definition. Whoever compares the two later sees at once that these are the same.
    """
    if before is None or before.definition != now.definition:
        return now
    with_same_definition = replace(now, definition=before.definition)
    return before if before == with_same_definition else with_same_definition


def _with_endpoints_read_again(
    previous: Configuration, revision: Revision, changed: set[int]
) -> Configuration:
    """Return the configuration with the endpoints `changed`, by row id, read again."""
    if not changed:
        return replace(previous, revision=revision)
    rows_read_again = {f"endpoint {id}" for id in changed}
    unreadable = {row: why for row, why in previous.unreadable.items() if row not in rows_read_again}
    endpoints = {id: endpoint for id, endpoint in previous.endpoints.items() if id not in changed}
    endpoints |= rows.endpoints(previous.entities, previous.closed_entities, unreadable, only=changed)
    return replace(
        previous,
        revision=revision,
        endpoints=_in_order(endpoints),
        unreadable=MappingProxyType(unreadable),
    )


@contextmanager
def _one_state() -> Iterator[None]:
    """Make all reads inside see the state at the first of them; in a transaction, the state of that
    transaction.
    """
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN[connection.vendor])
        try:
            yield
        finally:
            # Nothing was written. The transaction only held the state.
            cursor.execute("ROLLBACK")
