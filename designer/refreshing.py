"""Fetching the platform's metadata anew, and what that brings: what is different, and who is affected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from crmclient import KeepsMetadata, Platform, TellsMetadataChanges
from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedQuery
from designer.configuration import Configuration, Endpoint
from designer.history.recording import record_outside
from designer.overview import Overview, forget, overview
from designer.platform import get_platform
from designer.readiness import State
from designer.readiness.findings import DRIFT
from designer.readiness.metadata import Metadata, MetadataUnavailable


@dataclass(frozen=True, slots=True)
class EntityNews:
    """Logical names of the attributes of one entity that are new, gone, or of another type or length, or are
    required now, or no more."""

    entity: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh brought. `added` and `removed` are entities; `news` are of those that the configuration
    uses; `degraded` are endpoints by row id that were not before."""

    is_different: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    news: tuple[EntityNews, ...] = ()
    degraded: Mapping[int, Endpoint] | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """Metadata at one moment; nothing while it was not known."""

    entities: Collection[str]
    attributes: Mapping[str, Mapping[str, Attribute]]


def refresh(*, by_changes: bool = False) -> Refreshed:
    """Fetch the metadata anew; a platform that keeps no copy of it is only looked at again.

    `by_changes`: only what the platform says has changed, where it can be asked for that.
    Raises PlatformFailure when the platform does not tell: then everything is as it was.
    """
    # What was saved past the studio is compared with the metadata that it was saved under.
    record_outside()
    platform = get_platform()
    seen = overview()
    used = sorted(entities_used(seen.configuration))
    before = _known(used)
    is_different = _fetch(platform, by_changes=by_changes)
    forget()
    after, degraded_before = _known(used), _degraded(seen)
    now = overview()
    return Refreshed(
        is_different=is_different,
        added=_new(before.entities, after.entities),
        removed=_new(after.entities, before.entities),
        news=tuple(_news(before, after)),
        degraded={id: now.configuration.endpoints[id] for id in _degraded(now) - degraded_before},
    )


def _fetch(platform: Platform, *, by_changes: bool) -> bool:
    if by_changes and isinstance(platform, TellsMetadataChanges):
        return platform.refresh_changed_metadata()
    return platform.refresh_metadata() if isinstance(platform, KeepsMetadata) else False


def entities_used(configuration: Configuration) -> frozenset[str]:
    """Logical names of the entities that the configuration reads or writes."""
    found = {exposure.entity for exposure in configuration.entities}
    for endpoint in configuration.endpoints.values():
        queries = [endpoint.definition.settings.designed_query]
        queries += [fetcher.query for fetcher in endpoint.definition.fetchers]
        found.update(name for query in queries if query is not None for name in _of_query(query))
    users = get_platform().conventions.users
    of_users = users.entity if users is not None else ""
    read = {known.caller_type for known in configuration.user_properties}
    found |= {known.records(of_users) for known in configuration.caller_types if known.name in read} - {""}
    return frozenset(found)


def _of_query(query: DesignedQuery) -> Iterator[str]:
    yield query.entity
    yield from (link.entity for link in query.every_link)


def _known(used: Iterable[str]) -> _Known:
    metadata = Metadata(get_platform())
    try:
        return _Known(metadata.entities().keys(), {name: metadata.attributes(name) for name in used})
    except MetadataUnavailable:
        return _Known((), {})


def _degraded(seen: Overview) -> frozenset[int]:
    """Those that suffer from changed metadata, whether they are still served or not."""
    return frozenset(
        id
        for id, found in seen.by_endpoint.items()
        if seen.states[id] is not State.DRAFT and any(finding.rule == DRIFT for finding in found)
    )


def _new(before: Collection[str], after: Collection[str]) -> tuple[str, ...]:
    # Where nothing was known before, everything would be new, and nothing is news.
    return tuple(sorted(set(after) - set(before))) if before and after else ()


def _news(before: _Known, after: _Known) -> Iterator[EntityNews]:
    for entity, now in after.attributes.items():
        then = before.attributes.get(entity)
        if not then or not now:
            continue
        changed = (name for name in then.keys() & now.keys() if _facts(then[name]) != _facts(now[name]))
        found = EntityNews(entity, _new(then, now), _new(now, then), tuple(sorted(changed)))
        if found.added or found.removed or found.changed:
            yield found


def _facts(attribute: Attribute) -> tuple[object, ...]:
    return attribute.type, attribute.max_length, attribute.is_required, attribute.targets
