"""Refusals of changes of the configuration, whether they come from the studio, an import or a command."""

from __future__ import annotations

from collections.abc import Sequence

from designer.configuration import Configuration
from designer.readiness.findings import Finding


class ChangeRefused(Exception):
    """The account may not make the change, or not in this way. Nothing has changed."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings

    @property
    def problems(self) -> list[str]:
        """Return the messages of the findings in the language of the reader."""
        return [finding.said for finding in self.findings]


class ProtectionRefused(ChangeRefused):
    """The change from `before` to `now` is one of what a protected part serves, which needs a proposal."""

    def __init__(self, findings: Sequence[Finding], before: Configuration, now: Configuration) -> None:
        super().__init__(findings)
        self.before = before
        self.now = now
