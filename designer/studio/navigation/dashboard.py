"""The dashboard: the states of endpoints, findings, calls of the last day, the last versions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

from django.contrib import admin
from django.db.models import Max, Sum
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from designer.configuration import Endpoint
from designer.history.readable_versions import read_changes
from designer.models import EndpointCalls, Version
from designer.overview import Overview
from designer.readiness import Finding, State
from designer.readiness.findings import UNCHECKED
from designer.studio.hidden_lists import hidden_from, visible_findings
from designer.studio.navigation.notices import notices
from designer.studio.navigation.request_overview import overview_for
from designer.uses.attribute_uses import count_items, missing_attributes, says_missing

EndpointsByKey: TypeAlias = Mapping[str, tuple[int, Endpoint]]
"""The row id of each endpoint, and the endpoint itself, by its key."""

admin.site.index_template = "designer/pages/dashboard.html"
admin.site.index_title = _("Dashboard")

_MOST_FINDINGS = 12


class MissingAttribute(NamedTuple):
    """An attribute that the platform does not have, although `item_count` items name it."""

    entity: str
    attribute: str
    item_count: int


_MOST_VERSIONS = 6
_CHANGES_PER_VERSION = 2
_MOST_BUSIEST = 8
_DAY = dt.timedelta(days=1)
_LABELS = {
    State.READY: _("Ready"),
    State.DEGRADED: _("Degraded"),
    State.BLOCKED: _("Blocked"),
    State.DRAFT: _("Draft"),
}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the dashboard, as far as the account may see it."""
    if not request.user.has_perm("designer.view_endpoint"):
        return context
    overview = overview_for(request)
    endpoints = overview.configuration.endpoints
    by_key = {endpoint.definition.key: (id, endpoint) for id, endpoint in endpoints.items()}
    return {
        **context,
        "designs": True,
        "is_empty": not overview.configuration.modules and not endpoints,
        "states": [(label, overview.counts.get(state, 0), state.value) for state, label in _LABELS.items()],
        "notices": notices(request),
        **_findings(visible_findings(overview.findings, request), overview, by_key),
        **_calls(by_key),
        "versions": _versions(hidden_from(request)) if request.user.has_perm("designer.view_version") else [],
    }


def _findings(findings: Collection[Finding], overview: Overview, by_key: EndpointsByKey) -> dict[str, Any]:
    """Return the findings for the template, blocking ones first, each with its endpoint's id and endpoint.

    An attribute that the platform no longer has is one problem, however many endpoints name it. So is
    metadata that the platform does not give.
    """
    missing = missing_attributes(overview.configuration, overview.metadata)
    others = [finding for finding in findings if not says_missing(finding, missing)]
    unchecked = dict.fromkeys(finding.said for finding in others if finding.rule == UNCHECKED)
    ordered = sorted(
        (finding for finding in others if finding.rule != UNCHECKED),
        key=lambda finding: not finding.is_blocking,
    )
    return {
        "missing": [MissingAttribute(*key, count_items(uses)) for key, uses in missing.items()],
        "unchecked": list(unchecked),
        "findings": [
            (finding, *by_key.get(finding.subject, (None, None))) for finding in ordered[:_MOST_FINDINGS]
        ],
        "more_findings": max(0, len(ordered) - _MOST_FINDINGS),
        "drifted": overview.counts.get(State.DEGRADED, 0),
    }


def _calls(by_key: EndpointsByKey) -> dict[str, Any]:
    """Return the sums of the last day's calls for the template, and the busiest endpoints."""
    rows = EndpointCalls.objects.filter(hour__gte=timezone.now() - _DAY)
    totals = rows.aggregate(calls=Sum("calls"), refused=Sum("refused"), failed=Sum("failed"))
    busiest = rows.values("endpoint").annotate(
        calls=Sum("calls"), refused=Sum("refused"), failed=Sum("failed"), last=Max("last_at")
    )
    return {
        "totals": {name: total or 0 for name, total in totals.items()},
        "busiest": [
            (row, *by_key.get(row["endpoint"], (None, None)))
            for row in busiest.order_by("-failed", "-calls", "endpoint")[:_MOST_BUSIEST]
        ],
    }


def _versions(hidden: Collection[str]) -> list[Any]:
    """Return the last versions, each with its first changes that are not of a list in `hidden`, and with the
    number of its other changes.
    """
    versions = []
    for version in Version.objects.prefetch_related("changes")[:_MOST_VERSIONS]:
        visible = [change for change in version.changes.all() if change.collection not in hidden]
        more = max(0, len(visible) - _CHANGES_PER_VERSION)
        versions.append((version, read_changes(visible[:_CHANGES_PER_VERSION]), more))
    return versions
