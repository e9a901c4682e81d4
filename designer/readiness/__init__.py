"""Readiness: whether an endpoint can be served, and everything that stands in the way."""

from designer.readiness.checker import Checker, check
from designer.readiness.findings import Finding, Severity, State, state_of
from designer.readiness.metadata import Metadata

__all__ = ["Checker", "Finding", "Metadata", "Severity", "State", "check", "state_of"]
