"""Restoring and importing in the studio: what is served goes on being served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.utils.translation import gettext as _

from designer.overview import Overview, overview
from designer.readiness import Finding


class ServedWouldBreak(Exception):
    """The change would stop endpoints that are served now. `problems` has a sentence for each reason."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.problems = [
            _("%(endpoint)s could no longer be served: %(why)s")
            % {"endpoint": finding.subject, "why": finding.said}
            for finding in findings
        ]
        super().__init__("; ".join(self.problems))


@contextmanager
def keeping_what_is_served() -> Iterator[None]:
    """Run the block in a transaction. Take it back if an endpoint is blocked that was not blocked before.

    Use it inside `recording`, not around it: `recording` waits for other writers, and their changes would
    then count as changes of the block. Raises ServedWouldBreak.
    """
    with transaction.atomic():
        before = overview()
        yield
        # Endpoints that the block has added may be blocked: nobody uses them yet.
        broken = [finding for finding in newly_blocked(before) if finding.subject in before.keys]
        if broken:
            raise ServedWouldBreak(broken)


def newly_blocked(before: Overview) -> list[Finding]:
    """Return the blocking findings about endpoints that were not blocked in the overview `before`."""
    blocked = {finding.subject for finding in before.findings if finding.is_blocking}
    return [
        finding for finding in overview().findings if finding.is_blocking and finding.subject not in blocked
    ]
