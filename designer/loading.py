"""Loading the configuration: all of it, or only what has changed since a known revision."""

from __future__ import annotations

from types import MappingProxyType

from django.db import connection

from designer import rows
from designer.configuration import Configuration, Revision
from designer.models import Change
from designer.revision import read_revision
from designer.snapshot import snapshot


def load() -> Configuration:
    """The whole configuration as it is now, at the revision it carries: one consistent state."""
    with snapshot():
        return _load(_now())


def reload(previous: Configuration) -> Configuration:
    """The configuration as it is now, reading again only the endpoints that changed since `previous`."""
    with snapshot():
        revision = _now()
        if revision == previous.revision:
            return previous
        changed = _changed(previous.revision)
        return _load(revision) if changed is None else _reload(previous, revision, changed)


_latest: Configuration | None = None


def latest() -> Configuration:
    """As `load`, for the price of what has changed since this process last asked. For pages of the studio."""
    global _latest
    known = _latest
    configuration = load() if known is None else reload(known)
    # Inside a transaction it may hold what is never committed.
    if not connection.in_atomic_block:
        _latest = configuration
    return configuration


def _now() -> Revision:
    return read_revision()[0]


def _changed(since: Revision) -> set[int] | None:
    """The endpoints noted after `since`; None when that is not known, or not all."""
    noted = list(Change.objects.filter(number__gte=since.number).values_list("number", "token", "endpoint"))
    known = any(number == since.number and token == since.token for number, token, _ in noted)
    later = {endpoint for number, _, endpoint in noted if number > since.number}
    return None if not known or None in later else {endpoint for endpoint in later if endpoint is not None}


def _load(revision: Revision) -> Configuration:
    unreadable: rows.Unreadable = {}
    entities = rows.entities(unreadable)
    return Configuration(
        revision=revision,
        endpoints=MappingProxyType(rows.endpoints(entities, unreadable)),
        modules=rows.modules(unreadable),
        entities=entities,
        roles=rows.roles(unreadable),
        user_properties=rows.user_properties(unreadable),
        unreadable=MappingProxyType(unreadable),
    )


def _reload(previous: Configuration, revision: Revision, changed: set[int]) -> Configuration:
    unreadable = {
        row: why
        for row, why in previous.unreadable.items()
        if row not in {f"endpoint {id}" for id in changed}
    }
    endpoints = {id: endpoint for id, endpoint in previous.endpoints.items() if id not in changed}
    endpoints |= rows.endpoints(previous.entities, unreadable, only=changed)
    return Configuration(
        revision=revision,
        endpoints=MappingProxyType(endpoints),
        modules=previous.modules,
        entities=previous.entities,
        roles=previous.roles,
        user_properties=previous.user_properties,
        unreadable=MappingProxyType(unreadable),
    )
