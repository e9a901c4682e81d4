"""What others change on the platform: it ends the cached answers that are read from it, in every process.

The platform is asked for each entity that a cached answer is read from and whose changes it tracks, with the
part of its budget that is for the background.
"""

from __future__ import annotations

import datetime as dt
import logging
import time

from django.conf import settings
from django.db.models import F

from crmclient import Call, Platform, Share, TracksChanges
from crmclient.errors import MetadataError, PlatformError, PlatformFailure
from designer.configuration import Configuration
from designer.models import TrackedEntity
from runtime.caching.answer_keys import entities_behind
from runtime.caching.generations import raise_generations

logger = logging.getLogger("portico.caching")


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


def end_what_has_changed(configuration: Configuration, platform: Platform) -> list[str]:
    """Ask the platform, and end the cached answers of each entity with changes; which these are.

    Raises PlatformFailure where the platform cannot be asked now: the rest is asked the next time.
    """
    if not isinstance(platform, TracksChanges):
        return []
    entities = tracked_entities(configuration, platform)
    # What nobody reads any more begins anew, should somebody read it again.
    TrackedEntity.objects.exclude(entity__in=entities).delete()
    return [entity for entity in entities if _has_changed(entity, platform)]


def _has_changed(entity: str, platform: TracksChanges) -> bool:
    now = dt.datetime.now(dt.UTC)
    row, _ = TrackedEntity.objects.get_or_create(entity=entity, defaults={"since": now, "asked_at": now})
    deadline = time.monotonic() + settings.PORTICO["PLATFORM_TIMEOUT"]
    call = Call(deadline=deadline, share=Share.BACKGROUND)
    try:
        found = platform.record_changes(entity, row.mark or None, call=call)
    except PlatformFailure:
        raise
    except PlatformError as error:
        logger.warning("%s was not asked for its changes: %s", entity, error)
        return False
    # What happened before the first mark, or since one that is too old, is not known.
    has_changed = bool(row.mark) and (found is None or found.any)
    if has_changed:
        # First: should this process die here, the same changes are told again.
        raise_generations([entity])
    TrackedEntity.objects.filter(entity=entity).update(
        mark="" if found is None else found.mark,
        asked_at=now,
        calls=F("calls") + 1,
        changes=F("changes") + has_changed,
    )
    return has_changed
