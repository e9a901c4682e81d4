"""What of the configuration is the administrators': who callers are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from designer.configuration import Configuration
from designer.readiness.findings import Finding, Severity
from designer.sentences import Sentence

# Whoever has all of these may change it, on a page of its own as in an import or a restore.
PERMISSIONS = tuple(
    f"designer.{verb}_{model}" for model in ("callertype", "issuer") for verb in ("add", "change", "delete")
)
RULE = "administrator-right"


def administration_refusals(before: Configuration, now: Configuration) -> Iterator[Finding]:
    """Yield a finding for each part of the change from `before` to `now` that only an
    administrator may make.
    """
    for name in _changed_names(before.caller_types, now.caller_types):
        message = Sentence(
            "Only an administrator may change caller types. Leave “%(name)s” as it is, or ask one.", name=name
        )
        yield Finding(RULE, Severity.BLOCKING, message, f"caller type {name}")
    for name in _changed_names(before.issuers, now.issuers):
        message = Sentence(
            "Only an administrator may change issuers. Leave “%(name)s” as it is, or ask one.", name=name
        )
        yield Finding(RULE, Severity.BLOCKING, message, f"issuer {name}")


def _changed_names(before: tuple[Any, ...], now: tuple[Any, ...]) -> list[str]:
    """Return the names of the definitions that differ, or that only one of both has."""
    return sorted({definition.name for definition in set(before) ^ set(now)})
