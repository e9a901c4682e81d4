"""Loading the configuration: all of it, or only what has changed since a known revision."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from django.db import connection

from designer import rows
from designer.changed_parts import with_parts
from designer.configuration import Configuration, Endpoint, Revision, RowIds
from designer.models import Change
from designer.revision import read_revision, read_revision_and
from designer.snapshot import snapshot


def load() -> Configuration:
    """The whole configuration as it is now, at the revision it carries: one consistent state."""
    with snapshot():
        return _load()


def reload(previous: Configuration) -> Configuration:
    """The configuration as it is now, reading again only the endpoints that changed since `previous`."""
    with snapshot():
        revision = _now()
        if revision == previous.revision:
            return previous
        committed = _inside.configuration
        if committed is not None and committed.revision == revision:
            return replace(committed, endpoints=_shared(previous, committed.endpoints))
        changed = _changed(previous.revision)
        if changed is None:
            return _load(previous)
        base: Configuration | None = previous
        if changed.parts:
            base = with_parts(previous, revision, changed.parts)
        return _load(previous) if base is None else _reload(base, revision, changed.endpoints)


class _Inside(threading.local):
    """What was last read inside a transaction: it may never be committed, so only its thread may use it.

    Once its revision is that of the database it has been, and need not be read again.
    """

    configuration: Configuration | None = None


_latest: Configuration | None = None
_inside = _Inside()


def latest() -> Configuration:
    """As `load`, for the price of what has changed since this process last asked. For pages of the studio."""
    global _latest
    if not connection.in_atomic_block:
        _latest = load() if _latest is None else reload(_latest)
        return _latest
    known = _inside.configuration
    # No two states share a revision, so the same revision means the same state, whatever was rolled back.
    if known is None or known.revision != _now():
        previous = known or _latest
        known = load() if previous is None else reload(previous)
        _inside.configuration = known
    return known


def _now() -> Revision:
    return read_revision()[0]


class _Changed(NamedTuple):
    """Endpoints by id, and tables that any endpoint may depend on."""

    endpoints: set[int]
    parts: set[str]


def _changed(since: Revision) -> _Changed | None:
    """What is noted after `since`; None when that is not known, or not all."""
    columns = ("number", "token", "endpoint", "part")
    noted = list(Change.objects.filter(number__gte=since.number).values_list(*columns))
    if not any(number == since.number and token == since.token for number, token, *_ in noted):
        return None
    changed = _Changed(set(), set())
    for number, _, endpoint, part in noted:
        if number <= since.number:
            continue
        if endpoint is not None:
            changed.endpoints.add(endpoint)
        elif part is not None:
            changed.parts.add(part)
        else:
            return None
    return changed


def _load(previous: Configuration | None = None) -> Configuration:
    """What is as it was stays the same object, by which what was made of it is found again."""
    # In one query: most systems protect nothing, and pay nothing for that.
    revision, _, protected = read_revision_and(rows.PROTECTED[connection.vendor])
    unreadable: rows.Unreadable = {}
    entities, closed = rows.entities(unreadable)
    endpoints = rows.endpoints(entities.values(), closed, unreadable)
    modules, roles = rows.modules(unreadable), rows.roles(unreadable)
    return Configuration(
        revision=revision,
        endpoints=_shared(previous, endpoints),
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


def _shared(previous: Configuration | None, endpoints: Mapping[int, Endpoint]) -> Mapping[int, Endpoint]:
    before = previous.endpoints if previous is not None else {}
    return MappingProxyType({id: _same(before.get(id), now) for id, now in endpoints.items()})


def _same(before: Endpoint | None, now: Endpoint) -> Endpoint:
    return before if before is not None and before == now else now


def _reload(previous: Configuration, revision: Revision, changed: set[int]) -> Configuration:
    if not changed:
        return replace(previous, revision=revision)
    unread = {f"endpoint {id}" for id in changed}
    unreadable = {row: why for row, why in previous.unreadable.items() if row not in unread}
    endpoints = {id: endpoint for id, endpoint in previous.endpoints.items() if id not in changed}
    endpoints |= rows.endpoints(previous.entities, previous.closed_entities, unreadable, only=changed)
    return replace(
        previous,
        revision=revision,
        endpoints=MappingProxyType(endpoints),
        unreadable=MappingProxyType(unreadable),
    )
