"""Restoring and importing in the studio: what is served goes on being served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.utils.translation import gettext as _

from designer.overview import Overview, overview
from designer.readiness import Finding


class ServedWouldBreak(Exception):
    """The change would stop endpoints that are served now."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.problems = [
            _("%(endpoint)s could no longer be served: %(why)s")
            % {"endpoint": finding.subject, "why": finding.said}
            for finding in findings
        ]
        super().__init__("; ".join(self.problems))


@contextmanager
def keeping_what_is_served() -> Iterator[None]:
    """A transaction that is taken back where it blocks what was not blocked before.

    Within `recording`: what others do while that waits for its turn is not taken for this.
    Raises ServedWouldBreak with a sentence for each endpoint and reason.
    """
    with transaction.atomic():
        before = overview()
        yield
        broken = [finding for finding in newly_blocked(before) if finding.subject in before.keys]
        if broken:
            raise ServedWouldBreak(broken)


def newly_blocked(before: Overview) -> list[Finding]:
    """Findings that block, now, what was not blocked at `before`."""
    blocked = {finding.subject for finding in before.findings if finding.is_blocking}
    return [
        finding for finding in overview().findings if finding.is_blocking and finding.subject not in blocked
    ]
