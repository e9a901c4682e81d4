"""A token under examination, and what a check of it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crmclient.sentences import Sentence
from runtime.callers.caller import Claims
from runtime.callers.issuers.issuer import Issuer, Issuers, Key
from runtime.callers.local import LocalIssuer
from runtime.callers.refusals import RefusedCaller


@dataclass(slots=True)
class Examined:
    """A token under examination, with what the checks have found out so far."""

    token: str
    issuers: Issuers
    header: dict[str, Any] = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    issuer: Issuer | None = None
    keys: list[Key] = field(default_factory=list)
    now: float = field(default_factory=time.time)

    @property
    def is_own(self) -> bool:
        """Whether it says that it is one of the service's own tokens."""
        return self.claims.get("iss") == LocalIssuer.name

    @property
    def leeway(self) -> int:
        """By how many seconds the clocks may differ. The service's own is this one."""
        return LocalIssuer.leeway if self.is_own else self.known_issuer.definition.leeway

    @property
    def known_issuer(self) -> Issuer:
        """Raises LookupError before the issuer has been found."""
        if self.issuer is None:
            raise LookupError("the issuer is not known")
        return self.issuer


@dataclass(frozen=True, slots=True)
class Found:
    """What a check expected and what it found. `refusal`: it does not hold. `setting` is the field of the
    issuer that decides.
    """

    expected: str
    found: str
    setting: str = ""
    refusal: RefusedCaller | None = None


Run: TypeAlias = Callable[[Examined], Found]


@dataclass(frozen=True, slots=True)
class Check:
    """`is_needed`: where it fails, nothing that comes after it means anything."""

    title: Sentence
    run: Run
    is_needed: bool = False
