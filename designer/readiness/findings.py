"""What a rule finds, and the state that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum


class Severity(str, Enum):
    """`BLOCKING`: it cannot be served so. `WARNING`: it can, but perhaps not as meant."""

    BLOCKING = "blocking"
    WARNING = "warning"


class State(str, Enum):
    DRAFT = "draft"
    READY = "ready"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    `subject` is the endpoint's key, or names the user property or row. `field` is where to mend it, in the
    definition's terms: `inputs.phone.max_length`; empty for the whole.
    """

    rule: str
    severity: Severity
    message: str
    subject: str
    field: str = ""

    @property
    def is_blocking(self) -> bool:
        return self.severity is Severity.BLOCKING

    def to_json(self) -> dict[str, str]:
        return {**asdict(self), "severity": self.severity.value}


def state_of(enabled: bool, findings: Iterable[Finding]) -> State:
    """The state of an endpoint."""
    if not enabled:
        return State.DRAFT
    return State.BLOCKED if any(finding.is_blocking for finding in findings) else State.READY
