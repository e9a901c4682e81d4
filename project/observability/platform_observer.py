"""Counts what happens to requests to a remote platform."""

from __future__ import annotations

import logging

from crmclient.outages import Outage
from crmclient.platform import Call
from project.observability.ledger import ledger

logger = logging.getLogger("portico.platform")

# Each process has a circuit of its own, and a probe that succeeds is the end of its waiting.
_left_alone = Outage(
    logger,
    "Dataverse fails again and again, and is left alone but for a probe now and then",
    "Dataverse answers again",
    quiet=0,
)


class PlatformMetrics:
    """Implements `crmclient.dataverse.http.observer.Observer`. All instances add to the metrics of the
    process.
    """

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        """Count one request to the platform. `outcome` is its status, or why there is none."""
        ledger.put(lambda metrics: metrics.attempts.labels(method, outcome).observe(seconds))

    def retried(self, reason: str) -> None:
        """Count a request that is sent again. `reason` is the outcome of the attempt before."""
        ledger.put(lambda metrics: metrics.retries.labels(reason).inc())

    def waited(self, seconds: float, *, admitted: bool) -> None:
        """Count a request that had to wait. `admitted` says whether it was then sent."""
        ledger.put(lambda metrics: metrics.waits.labels("yes" if admitted else "no").observe(seconds))

    def circuit(self, *, open: bool) -> None:
        """Note that this process leaves the platform alone (`open`), or asks it again."""
        ledger.put(lambda metrics: metrics.circuit_open.set(1 if open else 0))
        if open:
            _left_alone.failed()
        else:
            _left_alone.worked()

    def throttled(self, seconds: float, *, asked_seconds: float) -> None:
        """Count a pause of `seconds`. The platform asked for `asked_seconds`, which may be more."""
        ledger.put(lambda metrics: metrics.throttled.inc())
        if asked_seconds > seconds:
            logger.warning(
                "Dataverse asks for a pause of %d s; it gets %d s, the most", asked_seconds, seconds
            )
        else:
            logger.warning("Dataverse asks for a pause: nothing is sent for %d s", seconds)

    def spent(self, call: Call) -> None:
        """Count a request that the budget has paid for."""
        ledger.put(lambda metrics: metrics.spent.labels(call.share.value).inc())

    def refused(self, call: Call) -> None:
        """Count a request that was not sent for want of budget, or in a pause."""
        ledger.put(lambda metrics: metrics.budget_refused.labels(call.share.value).inc())
