"""What deleting endpoints takes from those who call them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from designer.endpoint_calls import DAYS, recent_calls
from designer.history.broken_callers import BREAKS
from designer.models import Endpoint
from designer.studio.navigation.request_overview import overview_for

# Of several endpoints, those that are called most.
_MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class DeletedEndpoint:
    """The URL that goes, and its `calls` of the last `days` days, the last of them at `last_call`."""

    methods_and_path: str
    is_served: bool
    calls: int
    last_call: dt.datetime | None
    days: int = DAYS


def deleted_endpoint(request: HttpRequest, row: Endpoint) -> DeletedEndpoint | None:
    """Return the endpoint that is to be deleted; None for one that cannot be read, which has no URL."""
    return next(iter(_deleted_endpoints(request, [row])), None)


def deletion_context(request: HttpRequest, rows: Iterable[Endpoint]) -> dict[str, Any]:
    """Return what the page that asks before several endpoints are deleted tells of them.

    Whoever confirms has seen their calls, so `answer` names the question that is answered then.
    """
    deleted = _deleted_endpoints(request, rows)
    return {
        "deleted_endpoints": deleted[:_MOST_SHOWN],
        "more": max(0, len(deleted) - _MOST_SHOWN),
        "days": DAYS,
        "answer": BREAKS,
    }


def _deleted_endpoints(request: HttpRequest, rows: Iterable[Endpoint]) -> list[DeletedEndpoint]:
    """Return the endpoints that are to be deleted, those that are called most first, without those that
    cannot be read.
    """
    configured = overview_for(request).configuration.endpoints
    endpoints = sorted(
        (configured[row.pk] for row in rows if row.pk in configured),
        key=lambda endpoint: (endpoint.path, endpoint.methods),
    )
    # By key: how many calls there were, and when the last one was.
    calls = recent_calls([endpoint.definition.key for endpoint in endpoints])
    deleted = [
        DeletedEndpoint(
            endpoint.methods_and_path,
            endpoint.definition.enabled,
            *calls.get(endpoint.definition.key, (0, None)),
        )
        for endpoint in endpoints
    ]
    # Endpoints that are called equally often stay in the order of their paths.
    return sorted(deleted, key=lambda endpoint: -endpoint.calls)
