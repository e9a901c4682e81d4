"""Accepting the platform's present metadata for endpoints that were saved under other metadata."""

from __future__ import annotations

from django.db import transaction

from designer.history.recording import hold_turn, record_outside
from designer.loading import latest
from designer.models import RecordedItem
from designer.overview import overview
from designer.readiness.drift import Facts, facts_of
from designer.readiness.findings import DRIFT


def accept_metadata(only: int | None = None) -> int:
    """Record the present metadata for every endpoint whose metadata has changed. Return their number.

    `only` is the row id of the one endpoint to record it for; None: all of them.
    """
    record_outside()
    current = overview()
    endpoints = latest().endpoints
    drifted = [
        id
        for id, findings in current.by_endpoint.items()
        if only in (None, id) and any(finding.rule == DRIFT for finding in findings)
    ]
    with transaction.atomic():
        # From here on, others who save or accept wait. Whoever has saved an endpoint meanwhile has recorded
        # its present metadata.
        hold_turn()
        now = latest().endpoints
        for id in drifted:
            if id in now and now[id].definition == endpoints[id].definition:
                _record_again(endpoints[id].definition.key, facts_of(endpoints[id], current.metadata))
    return len(drifted)


def _record_again(key: str, facts: Facts | None) -> None:
    """Record `facts` for the endpoint with `key`, in a new row: its id tells every process that the recorded
    facts have changed.
    """
    item = RecordedItem.objects.get(collection="endpoints", key=key)
    item.delete()
    item.pk, item.facts = None, facts
    item.save(force_insert=True)
