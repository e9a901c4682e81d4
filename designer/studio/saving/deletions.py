"""What deleting an endpoint takes from those who call it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.http import HttpRequest

from designer.endpoint_calls import DAYS, recent_calls
from designer.models import Endpoint
from designer.studio.navigation.seen import seen_by


@dataclass(frozen=True, slots=True)
class DeletedEndpoint:
    """The URL that goes, and its `calls` of the last `days` days, the last of them at `last_call`."""

    methods: tuple[str, ...]
    path: str
    is_served: bool
    calls: int
    last_call: dt.datetime | None
    days: int = DAYS


def deleted_endpoint(request: HttpRequest, row: Endpoint) -> DeletedEndpoint | None:
    """None for an endpoint that cannot be read, and so has no URL."""
    known = seen_by(request).configuration.endpoints.get(row.pk)
    if known is None:
        return None
    key = known.definition.key
    calls, last = recent_calls([key]).get(key, (0, None))
    return DeletedEndpoint(known.methods, known.path, known.definition.enabled, calls, last)
