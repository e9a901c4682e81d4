"""Usage: how often each endpoint is called, and when last."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Max, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy

from designer.models import EndpointCalls
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import StudioPage

_PER_PAGE = 100
_NO_CALLS: dict[str, Any] = {"day": 0, "month": 0, "failed": 0, "last": None}


class UsagePage(StudioPage):
    """The enabled endpoints by path, with the calls of each in the last day and month."""

    title = gettext_lazy("Usage")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/usage.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        endpoints = overview_for(self.request).configuration.endpoints
        enabled = {id: endpoint for id, endpoint in endpoints.items() if endpoint.definition.enabled}
        ids = sorted(enabled, key=lambda id: (enabled[id].path, enabled[id].methods))
        page = Paginator(ids, _PER_PAGE).get_page(self.request.GET.get("page"))
        calls = _calls([enabled[id].definition.key for id in page.object_list])
        rows = [
            (id, enabled[id], calls.get(enabled[id].definition.key, _NO_CALLS)) for id in page.object_list
        ]
        return super().get_context_data(**kwargs, page=page, rows=rows)


def _calls(keys: list[str]) -> dict[str, dict[str, Any]]:
    """Return the counts of calls by the endpoint's key, for those of `keys` that were ever called.

    `day` and `month` count the calls of 1 and 30 days, `failed` those of 30 days that were answered with 5xx.
    `last` is the time of the last call.
    """
    now = timezone.now()
    day, month = Q(hour__gte=now - dt.timedelta(days=1)), Q(hour__gte=now - dt.timedelta(days=30))
    rows = EndpointCalls.objects.filter(endpoint__in=keys).values("endpoint")
    return {
        row["endpoint"]: dict(row)
        for row in rows.annotate(
            day=Sum("calls", filter=day, default=0),
            month=Sum("calls", filter=month, default=0),
            failed=Sum("failed", filter=month, default=0),
            last=Max("last_at"),
        )
    }
