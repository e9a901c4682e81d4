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

PAUSE: Final = dt.timedelta(hours=1)
"""How long an entity is left alone after the platform could not report its changes. Such a question may have
taken many calls.
"""


def tracked_entities(configuration: Configuration, platform: Platform) -> list[str]:
    """Return the sorted logical names of the entities whose changes the platform is asked for.

    These are the entities that cached answers are read from and whose changes the platform tracks.
    """
    entity_names: set[str] = set()
    for endpoint in configuration.endpoints.values():
        if endpoint.definition.settings.answer_cache is None or not endpoint.definition.enabled:
            continue
        try:
            entity_names |= entities_behind(endpoint, platform) or set()
        except MetadataError:
            # The endpoint cannot be served either, so it has no cached answers.
            continue
    if not entity_names:
        return []
    entities = platform.entities()
    return sorted(name for name in entity_names if name in entities and entities[name].tracks_changes)


def end_what_has_changed(configuration: Configuration, platform: Platform, deadline: float) -> list[str]:
    """Ask the platform what has changed since the mark of each entity, and end the cached answers of those
    that have.

    A mark is the platform's own word for a moment. Return the logical names of the changed entities.
    `deadline` is a time of `time.monotonic()`. Raises PlatformFailure when the platform cannot be asked now,
    or the deadline has passed. The next run asks about the remaining entities first.
    """
    if not isinstance(platform, TracksChanges):
        return []
    entities, address = tracked_entities(configuration, platform), settings.PORTICO["CRM_URL"]
    # Forget the entities that no cached answer is read from: should one be read again, it starts with a new
    # mark. Forget the marks of another platform, too: they mean nothing here.
    TrackedEntity.objects.exclude(entity__in=entities, platform=address).delete()
    now = dt.datetime.now(dt.UTC)
    for entity in entities:
        # A new entity was never asked about. It counts as asked a while ago, and comes before what was asked
        # lately.
        values_of_new_row = {"platform": address, "since": now, "asked_at": now - PAUSE}
        TrackedEntity.objects.get_or_create(entity=entity, defaults=values_of_new_row)
    # The oldest question comes first: after a failure, the entities behind it are asked about first next
    # time.
    rows = TrackedEntity.objects.order_by("asked_at", "entity")
    changed = []
    for row in rows:
        if not _is_paused(row, now) and _end_if_changed(row, platform, deadline):
            changed.append(row.entity)
    return changed


def _is_paused(row: TrackedEntity, now: dt.datetime) -> bool:
    """Whether the platform has lately said that it cannot be asked about the entity.

    Then its row has no mark, although it was asked about: a row without a mark and without a call is new.
    """
    return not row.mark and row.calls > 0 and now - row.asked_at < PAUSE


def _end_if_changed(row: TrackedEntity, platform: TracksChanges, deadline: float) -> bool:
    """Ask whether an entity has changed since the last question, and end its cached answers if so.

    Keep the platform's new mark in the row: the next question starts from it. Return whether the entity has
    changed. Without an old mark nobody knows: the cached answers end, but the result is False. Raises
    PlatformFailure.
    """
    tracked = TrackedEntity.objects.filter(pk=row.pk)
    tracked.update(asked_at=dt.datetime.now(dt.UTC))
    changes = _record_changes(platform, row.entity, row.mark, deadline) if row.mark else None
    has_changed = bool(row.mark) and (changes is None or changes.any)
    if has_changed:
        # Before the new mark is stored: if this process dies in between, the platform reports the changes
        # again.
        raise_generations([row.entity])
    if changes is None:
        changes = _record_changes(platform, row.entity, None, deadline)
        if changes is not None:
            # Nobody knows what changed before the new mark, so every cached answer of the entity ends.
            raise_generations([row.entity])
    tracked.update(
        mark="" if changes is None else changes.mark,
        calls=F("calls") + 1,
        changes=F("changes") + int(has_changed),
    )
    return has_changed


def _record_changes(
    platform: TracksChanges, entity: str, mark: str | None, deadline: float
) -> RecordChanges | None:
    """Return the entity's changes since `mark`; None, with a line in the log, when the platform cannot
    say.
    """
    try:
        return platform.record_changes(entity, mark, call=Call(deadline=deadline, share=Share.BACKGROUND))
    except PlatformFailure:
        raise
    except PlatformError as error:
        logger.warning("%s was not asked for its changes: %s", entity, error)
        return None
