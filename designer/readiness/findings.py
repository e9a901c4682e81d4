"""What a rule finds, and the state that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from designer.sentences import said


class Severity(str, Enum):
    """`BLOCKING`: it cannot be served so. `WARNING`: it can, but perhaps not as meant."""

    BLOCKING = "blocking"
    WARNING = "warning"


class State(str, Enum):
    """Of an endpoint. `DEGRADED`: served, but the platform's metadata has changed under it.

    `BLOCKED`: what answers 503, whether it was designed so or the metadata has changed.
    """

    DRAFT = "draft"
    READY = "ready"
    DEGRADED = "degraded"
    BLOCKED = "blocked"


# The rule of findings that come of changed metadata, not of what was designed.
DRIFT = "metadata-drift"
# The rule of findings that say what could not be judged, for the platform did not tell its metadata.
UNCHECKED = "metadata-unavailable"
# What no import and no restored version may bring in, whatever else they may.
_NEVER = frozenset({"process-forbidden"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    `subject` is the endpoint's key, or names the user property or row. `field` is where to mend it, in the
    definition's terms: `inputs.phone.max_length`; empty for the whole. `message` is in English.
    """

    rule: str
    severity: Severity
    message: str
    subject: str
    field: str = ""

    @property
    def is_blocking(self) -> bool:
        return self.severity is Severity.BLOCKING

    @property
    def is_unacceptable(self) -> bool:
        """Whether it may not even be brought in as what cannot be served."""
        return self.rule in _NEVER

    @property
    def said(self) -> str:
        """The message in the language at hand."""
        return said(self.message)

    def to_json(self) -> dict[str, str]:
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "message": str(self.message),
            "subject": self.subject,
            "field": self.field,
        }


def state_of(enabled: bool, findings: Iterable[Finding]) -> State:
    """The state of an endpoint."""
    if not enabled:
        return State.DRAFT
    found = list(findings)
    if any(finding.is_blocking for finding in found):
        return State.BLOCKED
    return State.DEGRADED if any(finding.rule == DRIFT for finding in found) else State.READY
