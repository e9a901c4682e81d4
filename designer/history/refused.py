"""Changes of the configuration that are taken back, whatever way they came."""

from __future__ import annotations

from collections.abc import Sequence

from designer.configuration import Configuration
from designer.readiness.findings import Finding


class ChangeRefused(Exception):
    """What was about to be done is not for whoever does it, or not in this way. Nothing has changed."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings

    @property
    def problems(self) -> list[str]:
        """The findings in the language at hand."""
        return [finding.said for finding in self.findings]


class ProtectionRefused(ChangeRefused):
    """It changes what is served in a protected part, from `before` to `now`: that takes a proposal."""

    def __init__(self, findings: Sequence[Finding], before: Configuration, now: Configuration) -> None:
        super().__init__(findings)
        self.before = before
        self.now = now
