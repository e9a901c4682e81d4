"""Refreshing the platform's metadata, with a report on what is different and which endpoints are affected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from crmclient import KeepsMetadata, Platform, TellsMetadataChanges
from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from designer.entities_used import entities_used
from designer.history.recording import record_outside
from designer.overview import Overview, forget, overview
from designer.platform import get_platform
from designer.readiness import State
from designer.readiness.findings import DRIFT
from designer.readiness.metadata import Metadata, MetadataUnavailable


@dataclass(frozen=True, slots=True)
class EntityNews:
    """The attributes of one entity that are new, removed or changed, by logical name.

    Changed are those of another type, length or target, and those that became required or no longer are.
    """

    entity: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """The result of a refresh.

    `added` and `removed` are entities; `news` is about entities that the configuration uses. `degraded` are
    the endpoints that are newly affected, by row id.
    """

    is_different: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    news: tuple[EntityNews, ...] = ()
    degraded: Mapping[int, Endpoint] | None = None

    @property
    def has_changes(self) -> bool:
        """Whether the refresh found any difference."""
        return bool(self.is_different or self.added or self.removed or self.news or self.degraded)

    @property
    def audited(self) -> str:
        """What the audit log says of the refresh."""
        return "changed" if self.has_changes else "as it was"


@dataclass(frozen=True, slots=True)
class _KnownMetadata:
    """The metadata at one moment; empty when the platform could not be asked."""

    entities: Collection[str]
    attributes: Mapping[str, Mapping[str, Attribute]]


def refresh(*, by_changes: bool = False) -> RefreshResult:
    """Fetch the metadata anew, and return what is different. A platform that keeps no copy is only read
    again.

    `by_changes`: fetch only what the platform says has changed, where it can say that. Raises PlatformFailure
    when the platform does not answer; everything is as before then.
    """
    # Changes made outside the studio are recorded first, under the metadata that they were made under.
    record_outside()
    platform = get_platform()
    overview_before = overview()
    used = sorted(entities_used(overview_before.configuration))
    before = _read_known(used)
    is_different = _fetch_metadata(platform, by_changes=by_changes)
    forget()
    after, degraded_before = _read_known(used), _ids_with_drift(overview_before)
    overview_after = overview()
    return RefreshResult(
        is_different=is_different,
        added=_new_names(before.entities, after.entities),
        removed=_new_names(after.entities, before.entities),
        news=tuple(_news_of_entities(before, after)),
        degraded={
            id: overview_after.configuration.endpoints[id]
            for id in _ids_with_drift(overview_after) - degraded_before
        },
    )


def _fetch_metadata(platform: Platform, *, by_changes: bool) -> bool:
    """Fetch the metadata anew, and return whether it is different; False for a platform
    that keeps no copy.
    """
    if by_changes and isinstance(platform, TellsMetadataChanges):
        return platform.refresh_changed_metadata()
    return platform.refresh_metadata() if isinstance(platform, KeepsMetadata) else False


def _read_known(used: Iterable[str]) -> _KnownMetadata:
    """Read the entities, and the attributes of those in `used`; nothing while the platform cannot be
    asked.
    """
    metadata = Metadata(get_platform())
    try:
        return _KnownMetadata(metadata.entities().keys(), {name: metadata.attributes(name) for name in used})
    except MetadataUnavailable:
        return _KnownMetadata((), {})


def _ids_with_drift(current: Overview) -> frozenset[int]:
    """Return the ids of the endpoints that the platform's metadata no longer fits as it did when they were
    saved.

    Those that are still served count, and those that are blocked by it; not drafts, which nobody calls.
    """
    return frozenset(
        id
        for id, findings in current.by_endpoint.items()
        if current.states[id] is not State.DRAFT and any(finding.rule == DRIFT for finding in findings)
    )


def _new_names(before: Collection[str], after: Collection[str]) -> tuple[str, ...]:
    """Return the names that only `after` has, sorted; none when one of both is empty, because it is not
    known.
    """
    # Without anything known before, everything would be new.
    return tuple(sorted(set(after) - set(before))) if before and after else ()


def _news_of_entities(before: _KnownMetadata, after: _KnownMetadata) -> Iterator[EntityNews]:
    """Yield what has changed about each entity whose attributes were known before."""
    for entity, new_attributes in after.attributes.items():
        old_attributes = before.attributes.get(entity)
        if not old_attributes or not new_attributes:
            continue
        changed = (
            name
            for name in old_attributes.keys() & new_attributes.keys()
            if _compared_facts(old_attributes[name]) != _compared_facts(new_attributes[name])
        )
        news = EntityNews(
            entity,
            _new_names(old_attributes, new_attributes),
            _new_names(new_attributes, old_attributes),
            tuple(sorted(changed)),
        )
        if news.added or news.removed or news.changed:
            yield news


def _compared_facts(attribute: Attribute) -> tuple[object, ...]:
    """Return what is compared of an attribute. Labels, for example, may change without being news."""
    return attribute.type, attribute.max_length, attribute.is_required, attribute.targets
