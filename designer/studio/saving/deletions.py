"""What deleting an endpoint takes from those who call it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.http import HttpRequest

from designer.endpoint_calls import DAYS, recent_calls
from designer.models import Endpoint
from designer.studio.navigation.request_overview import seen_by


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
    """Return the endpoint that is to be deleted; None for one that cannot be read, which has no URL."""
    endpoint = seen_by(request).configuration.endpoints.get(row.pk)
    if endpoint is None:
        return None
    key = endpoint.definition.key
    calls, last = recent_calls([key]).get(key, (0, None))
    return DeletedEndpoint(endpoint.methods, endpoint.path, endpoint.definition.enabled, calls, last)
