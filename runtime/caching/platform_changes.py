"""What others change on the platform: it ends the cached answers that are read from it, in every process.

The platform is asked for each entity that a cached answer is read from and whose changes it tracks, with the
part of its budget that is for the background.
"""

from __future__ import annotations

import datetime as dt
import logging
from typing import Final

from django.conf import settings
from django.db.models import F

from crmclient import Call, Platform, RecordChanges, Share, TracksChanges
from crmclient.errors import MetadataError, PlatformError, PlatformFailure
from designer.configuration import Configuration
from designer.models import TrackedEntity
from runtime.caching.answer_keys import entities_behind
from runtime.caching.generations import raise_generations

logger = logging.getLogger("portico.caching")

REST: Final = dt.timedelta(hours=1)
"""Until an entity that the platform cannot tell of is asked about again: that may have taken many calls."""


def tracked_entities(configuration: Configuration, platform: Platform) -> list[str]:
    """The entities that there is a reason to ask about; none where nothing is cached."""
    read: set[str] = set()
    for endpoint in configuration.endpoints.values():
        if endpoint.definition.settings.answer_cache is None or not endpoint.definition.enabled:
            continue
        try:
            read |= entities_behind(endpoint, platform) or set()
        except MetadataError:
            # It cannot be served, either.
            continue
    if not read:
        return []
    known = platform.entities()
    return sorted(name for name in read if name in known and known[name].tracks_changes)


def end_what_has_changed(configuration: Configuration, platform: Platform, deadline: float) -> list[str]:
    """Ask the platform, and end the cached answers of each entity with changes; which these are.

    `deadline` is of `time.monotonic()`. Raises PlatformFailure where the platform cannot be asked now: the
    rest is asked first the next time.
    """
    if not isinstance(platform, TracksChanges):
        return []
    entities, address = tracked_entities(configuration, platform), settings.PORTICO["CRM_URL"]
    # What nobody reads any more begins anew, should somebody read it again. So does what was asked of
    # another organisation: its marks mean nothing here.
    TrackedEntity.objects.exclude(entity__in=entities, platform=address).delete()
    now = dt.datetime.now(dt.UTC)
    for entity in entities:
        new = {"platform": address, "since": now, "asked_at": now - REST}
        TrackedEntity.objects.get_or_create(entity=entity, defaults=new)
    # Where one fails, the others have their turn before it the next time.
    rows = TrackedEntity.objects.order_by("asked_at", "entity")
    return [row.entity for row in rows if not _rests(row, now) and _has_changed(row, platform, deadline)]


def _rests(row: TrackedEntity, now: dt.datetime) -> bool:
    """Whether the platform has lately said that it cannot be asked about the entity."""
    return not row.mark and row.calls > 0 and now - row.asked_at < REST


def _has_changed(row: TrackedEntity, platform: TracksChanges, deadline: float) -> bool:
    this = TrackedEntity.objects.filter(pk=row.pk)
    this.update(asked_at=dt.datetime.now(dt.UTC))
    found = _found(platform, row.entity, row.mark, deadline) if row.mark else None
    has_changed = bool(row.mark) and (found is None or found.any)
    if has_changed:
        # First: should this process die here, the same changes are told again.
        raise_generations([row.entity])
    if found is None:
        found = _found(platform, row.entity, None, deadline)
        if found is not None:
            # What has changed before the mark, nobody can tell any more.
            raise_generations([row.entity])
    this.update(
        mark="" if found is None else found.mark,
        calls=F("calls") + 1,
        changes=F("changes") + int(has_changed),
    )
    return has_changed


def _found(platform: TracksChanges, entity: str, mark: str | None, deadline: float) -> RecordChanges | None:
    try:
        return platform.record_changes(entity, mark, call=Call(deadline=deadline, share=Share.BACKGROUND))
    except PlatformFailure:
        raise
    except PlatformError as error:
        logger.warning("%s was not asked for its changes: %s", entity, error)
        return None
