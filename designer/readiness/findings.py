"""Findings of rules, and the state of an endpoint that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from designer.sentences import said


class Severity(str, Enum):
    """How serious a finding is.

    `BLOCKING`: the endpoint cannot be served. `WARNING`: it can, but perhaps not as meant.
    """

    BLOCKING = "blocking"
    WARNING = "warning"


class State(str, Enum):
    """The state of an endpoint.

    `DEGRADED`: it is served, but the platform's metadata has changed since it was saved. `BLOCKED`: it
    answers 503, because of its design or of changed metadata.
    """

    DRAFT = "draft"
    READY = "ready"
    DEGRADED = "degraded"
    BLOCKED = "blocked"


# The rule of findings about changed metadata, which are no mistakes of the design.
DRIFT = "metadata-drift"
# The rule of findings about what could not be checked, because the platform's metadata was not available.
UNCHECKED = "metadata-unavailable"
# Fields that are in the endpoint's `access` in a document.
_OF_ACCESS = frozenset({"roles", "caller_types"})
# Findings of these rules stop every import and every restored version, even those that may be broken.
_NEVER = frozenset({"process-forbidden"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    `subject` is the endpoint's key, or a sentence that names the user property, issuer or row. `field` is
    where to correct it in the definition, such as `inputs.phone.max_length`; empty for the whole. `message`
    and `subject` are in English.
    """

    rule: str
    severity: Severity
    message: str
    subject: str
    field: str = ""

    @property
    def is_blocking(self) -> bool:
        return self.severity is Severity.BLOCKING

    def is_about(self, place: str) -> bool:
        """Whether the finding is about `place`, such as `inputs.phone`, its parts, or what it is part of."""
        # Findings name these fields without `access.`, because the studio's form has no such group.
        own_place = f"access.{self.field}" if self.field in _OF_ACCESS else self.field
        return f"{own_place}.".startswith(f"{place}.") or f"{place}.".startswith(f"{own_place}.")

    @property
    def is_unacceptable(self) -> bool:
        """Whether the finding stops every import, even one that may bring in what cannot be served."""
        return self.rule in _NEVER

    @property
    def said(self) -> str:
        """The message in the language of the reader."""
        return said(self.message)

    def to_json(self) -> dict[str, str]:
        """Return the finding as imports and commands report it, with its message in English."""
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "message": str(self.message),
            "subject": self.subject,
            "field": self.field,
        }


def state_of(enabled: bool, findings: Iterable[Finding]) -> State:
    """Return the state of an endpoint with these findings. `enabled`: the endpoint is meant to be served."""
    if not enabled:
        return State.DRAFT
    all_findings = list(findings)
    if any(finding.is_blocking for finding in all_findings):
        return State.BLOCKED
    return State.DEGRADED if any(finding.rule == DRIFT for finding in all_findings) else State.READY
