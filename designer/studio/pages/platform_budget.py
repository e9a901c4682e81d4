"""The platform's budget: what is left, who spends it, and how far it would go with more callers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from crmclient import Share
from crmclient.dataverse.http.budget import BOUNDLESS, BudgetUse, Limits, SpendsBudget
from crmclient.durations import duration
from designer.models import EndpointCalls, TrackedEntity
from designer.platform import get_platform
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import StudioPage
from designer.studio.pages.platform import refresh_context

_SHARES = {
    Share.WRITES: _("Writes of known callers"),
    Share.READS: _("Reads of known callers"),
    Share.ANONYMOUS: _("Anonymous callers"),
    Share.BACKGROUND: _("The service itself"),
}
_MOST_SPENDERS = 20
# The page says whether the budget is enough for so many times the calls of the busiest hour of these days.
_GROWTH = 10
_DAYS = 7
_SECONDS_PER_HOUR = 3_600


class PlatformBudgetPage(StudioPage):
    """The page at *Platform*: the use of each application user, and the endpoints that spend most."""

    title = _("Platform")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/platform_budget.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        platform = get_platform()
        budget = platform.budget if isinstance(platform, SpendsBudget) else None
        limits = None if budget is None else budget.limits
        users = [] if budget is None else [_user_row(use, budget.limits) for use in budget.use_of_users()]
        # Calls are counted by hours: the hour that has begun and the whole one before it.
        since = timezone.now().replace(minute=0, second=0, microsecond=0) - dt.timedelta(hours=1)
        spenders = self._spenders(since)
        return super().get_context_data(
            **kwargs,
            **refresh_context(),
            has_budget=budget is not None,
            users=users,
            since=since,
            spenders=spenders,
            saved=_savings(spenders),
            tracked=TrackedEntity.objects.order_by("entity"),
            more=_with_more_callers(limits, len(users)),
        )

    def _spenders(self, since: dt.datetime) -> list[dict[str, Any]]:
        """Return the endpoints that have called the platform most since `since`, as rows of the page.

        Each row has `asked`, the number of its calls; `spent`, of its platform calls; `each`, of platform
        calls for one call; `kept`, of calls that the cache answered; `saved`, of platform calls that those
        would have cost; and `refused`, of calls for which the budget was used up. `endpoint` is its key, `id`
        the id of its database row, and `what` the endpoint itself. Endpoints that were deleted are left out.
        """
        endpoints = overview_for(self.request).configuration.endpoints
        by_key = {endpoint.definition.key: (id, endpoint) for id, endpoint in endpoints.items()}
        rows = EndpointCalls.objects.filter(hour__gte=since).values("endpoint")
        summed = rows.annotate(
            asked=Sum("calls"), spent=Sum("platform_calls"), refused=Sum("throttled"), kept=Sum("cached")
        ).order_by("-spent", "endpoint")
        return [
            {
                **row,
                "id": by_key[row["endpoint"]][0],
                "what": by_key[row["endpoint"]][1],
                "each": _platform_calls_per_call(row),
                "saved": _saved_platform_calls(row),
            }
            for row in summed[:_MOST_SPENDERS]
            if row["endpoint"] in by_key
        ]


def _platform_calls_per_call(row: Mapping[str, Any]) -> str:
    """Return how many platform calls one call of the endpoint took on average, with one decimal."""
    return f"{row['spent'] / row['asked']:.1f}"


def _savings(spenders: list[dict[str, Any]]) -> str:
    """Return a sentence that says what the cache has saved; empty where it has answered nothing."""
    kept, saved = (sum(row[name] for row in spenders) for name in ("kept", "saved"))
    if not kept:
        return ""
    return gettext(
        "%(kept)s of %(calls)s calls were answered from the cache. That saved the platform about %(saved)s "
        "calls."
    ) % {"kept": f"{kept:,}", "calls": f"{sum(row['asked'] for row in spenders):,}", "saved": f"{saved:,}"}


def _saved_platform_calls(row: Mapping[str, Any]) -> int:
    """Return how many platform calls the cached answers of an endpoint would have cost.

    Each counts as much as the endpoint's other answers did on average, and at least one.
    """
    kept: int = row["kept"]
    others = row["asked"] - kept
    return round(kept * max(1.0, row["spent"] / others if others else 1.0))


def _user_row(use: BudgetUse, limits: Limits) -> dict[str, Any]:
    """Return how much of its limits one application user has used, as texts and numbers of the page.

    Where processes do not share an account, these are the numbers of this process and of its part.
    """
    return {
        "requests": _used_of_limit(use.used_requests, limits.requests),
        "work": _used_of_limit(sum(use.work.values()), limits.work),
        "others": round(max(0.0, use.others)),
        "running": f"{use.running} / {limits.places}",
        "pause": duration(use.pause) if use.pause > 0 else "–",
        "shares": [
            {
                "name": name,
                "used": use.requests[share],
                # How many requests are kept for the group. None: there is no limit to divide.
                "share": None
                if limits.requests >= BOUNDLESS
                else round(limits.requests * _part_of_limits(limits, share)),
            }
            for share, name in _SHARES.items()
        ],
    }


def _part_of_limits(limits: Limits, share: Share) -> float:
    """Return the part of the limits, from 0 to 1, that belongs to a group of calls."""
    return limits.shares.get(share, 0.0)


def _used_of_limit(used: float, limit: float) -> str:
    """Return “used / limit”. A limit that is none is shown as ∞."""
    return f"{used:,.0f} / ∞" if limit >= BOUNDLESS else f"{used:,.0f} / {limit:,.0f}"


def _with_more_callers(limits: Limits | None, users: int) -> str:
    """Return a sentence that says whether the budget is enough for ten times the busiest hour of late.

    `users` is the number of application users, which have the budget together. The text is empty where there
    is no limit, and where nobody has called.
    """
    since = timezone.now() - dt.timedelta(days=_DAYS)
    hours = EndpointCalls.objects.filter(hour__gte=since).values("hour").annotate(spent=Sum("platform_calls"))
    busiest = max((row["spent"] for row in hours), default=0)
    if limits is None or limits.requests >= BOUNDLESS or not busiest:
        return ""
    # For an hour, and for all processes: `limits` are for one window and may be those of one process.
    budget = round(limits.requests * limits.processes * users * _SECONDS_PER_HOUR / limits.window)
    needed = _GROWTH * busiest
    refused_percent = max(0, round(100 * (1 - budget / needed)))
    words = {
        "busiest": f"{busiest:,}",
        "wanted": f"{needed:,}",
        "budget": f"{budget:,}",
        "times": _GROWTH,
        "share": refused_percent,
    }
    if needed <= budget:
        sentence = gettext(
            "The busiest hour of the last seven days asked the platform %(busiest)s times. With %(times)s "
            "times the callers it would be %(wanted)s; the budget of %(budget)s an hour is enough."
        )
    else:
        sentence = gettext(
            "The busiest hour of the last seven days asked the platform %(busiest)s times. With %(times)s "
            "times the callers it would be %(wanted)s, and the budget is %(budget)s an hour: %(share)s of "
            "100 calls would be refused. Cache answers, or add application users."
        )
    return sentence % words
