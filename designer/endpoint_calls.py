"""How often endpoints have been called of late."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping

from django.db.models import Max, Sum
from django.utils import timezone

from designer.models import EndpointCalls

# Long enough for something that is called once a month, whatever the month.
DAYS = 35


def recent_calls(keys: Collection[str]) -> Mapping[str, tuple[int, dt.datetime]]:
    """Return the number of calls of the last `DAYS` days and the moment of the last one, by endpoint key."""
    since = timezone.now() - dt.timedelta(days=DAYS)
    rows = EndpointCalls.objects.filter(endpoint__in=keys, hour__gte=since).values("endpoint")
    summed = rows.annotate(total=Sum("calls"), last=Max("last_at"))
    return {row["endpoint"]: (row["total"], row["last"]) for row in summed}
