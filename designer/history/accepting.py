"""Taking the platform's present metadata for what endpoints were saved under."""

from __future__ import annotations

from django.db import transaction

from designer.history.recording import record_outside
from designer.loading import latest
from designer.models import RecordedItem
from designer.overview import overview
from designer.readiness.drift import Facts, facts_of
from designer.readiness.findings import DRIFT


def accept_metadata(only: int | None = None) -> int:
    """Record what the platform says now of every endpoint that it has changed under; how many those are.

    `only` is the row id of the one endpoint that is meant; None: all of them.
    """
    record_outside()
    seen = overview()
    endpoints = latest().endpoints
    drifted = [
        id
        for id, found in seen.by_endpoint.items()
        if only in (None, id) and any(known.rule == DRIFT for known in found)
    ]
    with transaction.atomic():
        for id in drifted:
            facts = facts_of(endpoints[id], seen.metadata)
            _record_again(endpoints[id].definition.key, facts)
    return len(drifted)


def _record_again(key: str, facts: Facts | None) -> None:
    """As a new row: its id tells every process that what was recorded is another."""
    item = RecordedItem.objects.get(collection="endpoints", key=key)
    item.delete()
    item.pk, item.facts = None, facts
    item.save(force_insert=True)
