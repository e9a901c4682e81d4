"""How often callers are refused, by issuer, reason and day: counted in memory, written in batches.

Nothing that a caller can choose is kept: an issuer that is not set up here has no name in it. So there are
at most as many rows as issuers, reasons and days.
"""

from __future__ import annotations

import datetime as dt
import logging
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils.translation import gettext_lazy as _

from crmclient.outages import Outage
from runtime.batched_counts import BatchedCounts
from runtime.callers.refusals import RefusedCaller
from runtime.http.failures import caller_refused

logger = logging.getLogger("portico.callers")

KEPT = dt.timedelta(days=30)

# An issuer (empty when it is none of those set up here), a reason, and a day (UTC).
_Place: TypeAlias = tuple[str, str, dt.date]


class RefusalCount(models.Model):
    """Refusals of one day (UTC) for one `reason`; `issuer` is empty where it is none of those set up here."""

    issuer = models.CharField(_("issuer"), max_length=500, blank=True)
    reason = models.CharField(_("reason"), max_length=40)
    day = models.DateField(_("day"), db_index=True)
    count = models.BigIntegerField(_("refusals"), default=0)
    last_at = models.DateTimeField(_("last refusal"))

    class Meta:
        verbose_name = _("refused caller")
        verbose_name_plural = _("refused callers")
        ordering = ("-last_at",)
        default_permissions = ("view", "delete")
        constraints = (models.UniqueConstraint(fields=("issuer", "reason", "day"), name="refusals_of_day"),)

    def __str__(self) -> str:
        return f"{self.issuer or '–'}: {self.reason}"


@dataclass(slots=True)
class _Count:
    """How many refusals there were, and when the last one was."""

    number: int = 0
    last_at: dt.datetime = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

    def add(self, other: _Count) -> None:
        self.number += other.number
        self.last_at = max(self.last_at, other.last_at)


class RefusalCounts(BatchedCounts[_Place, _Count]):
    """Counts refused callers by issuer, reason and day."""

    def __init__(self) -> None:
        outage = Outage(
            logger, "Refusals were counted but not written.", "Refusals that were counted are written again."
        )
        super().__init__(_Count, interval=5.0, name="refusals", outage=outage)

    def count(self, refusal: RefusedCaller) -> None:
        """Count one refusal. It is written later, together with others."""
        now = dt.datetime.now(dt.UTC)
        issuer = refusal.issuer if refusal.is_of_known_issuer else ""
        with self._lock:
            self._counts[issuer, refusal.reason, now.date()].add(_Count(1, now))
        self._write_later()

    def _add(self, place: _Place, count: _Count) -> int:
        """Add a count to the row of an issuer, reason and day. Return the number of rows changed, 0 or 1."""
        issuer, reason, day = place
        rows = RefusalCount.objects.filter(issuer=issuer, reason=reason, day=day)
        return rows.update(
            count=F("count") + count.number, last_at=Greatest(F("last_at"), Value(count.last_at))
        )

    def _create(self, place: _Place, count: _Count) -> None:
        """Create the row of an issuer, reason and day. Raises IntegrityError when another process has."""
        issuer, reason, day = place
        RefusalCount.objects.create(
            issuer=issuer, reason=reason, day=day, count=count.number, last_at=count.last_at
        )


refusal_counts = RefusalCounts()


def count_from_now_on() -> None:
    """Count every refusal from now on. Called once, at start."""
    caller_refused.connect(_count, dispatch_uid="portico.refusals")


def _count(sender: object, problem: object, **signal: Any) -> None:
    """Receive the signal of a refusal, and count it."""
    if isinstance(problem, RefusedCaller):
        refusal_counts.count(problem)
